# SPDX-License-Identifier: BSD-3-Clause
# Completion of the kymo command for bash. Commands and options are read from its own --help, which
# takes a few milliseconds, so they are always those of the command that is typed.

# Names of installed sources: the files beside the command, whether installed or just built.
_kymo_sources() {
	local bin file
	bin=$(dirname "$(readlink -f "$(type -P "$1")")" 2>/dev/null) || return
	for file in "$bin"/plugins/source/*.so "$bin"/../lib/kymo/plugins/source/*.so \
		"$bin"/../lib*/*/kymo/plugins/source/*.so "$bin"/../lib64/kymo/plugins/source/*.so; do
		[[ -e $file ]] && basename "$file" .so
	done
	echo app
}

# Of a list "a,b,c" only the last part is completed.
_kymo_list() {
	local before=
	[[ $cur == *,* ]] && before=${cur%,*},
	mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${cur##*,}")
	compopt -o nospace 2>/dev/null || true
}

_kymo_files() {
	mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	compopt -o filenames 2>/dev/null || true
}

# The words "a|b|c" that --help has behind an option.
_kymo_choices() {
	"$1" "$2" --help 2>/dev/null | sed -n "s/.*$3 \([a-z]*|[a-z|]*\).*/\1/p" | tr '|' ' '
}

_kymo_value() {
	local kymo=$1 command=$2 option=$3 choices
	case $option in
	-t | --trace | --require) _kymo_list "$(_kymo_sources "$kymo")" ;;
	--types)
		_kymo_list "default all $("$kymo" types 2>/dev/null | awk '$1 ~ /^[0-9]+$/ { print $2 }')"
		;;
	-o | --output) _kymo_files ;;
	--compat) mapfile -t COMPREPLY < <(compgen -W tensorboard -- "$cur") ;;
	-*)
		choices=$(_kymo_choices "$kymo" "$command" "$option")
		[[ $choices ]] || return 1
		mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
		;;
	*) return 1 ;;
	esac
}

# Where the recorded program begins, or nothing: behind "--", or the first word that is neither an
# option nor the value of one.
_kymo_program() {
	local i word options
	options=$("$1" record --help 2>/dev/null)
	for ((i = 2; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		case $word in
		--) echo $((i + 1)) && return ;;
		--*=*) ;;
		-*) grep -Eq -- "^ .*$word(, --[a-z-]+)? [A-Za-z|]*[A-Z|]" <<<"$options" && i=$((i + 1)) ;;
		*) echo "$i" && return ;;
		esac
	done
}

_kymo() {
	local kymo=${COMP_WORDS[0]} command=${COMP_WORDS[1]} cur=${COMP_WORDS[COMP_CWORD]} program
	local previous=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	if ((COMP_CWORD == 1)) || [[ $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W \
			"$("$kymo" help 2>/dev/null | sed -n 's/^  \([a-z]*\)  .*/\1/p')" -- "$cur")
		return
	fi
	if [[ $command == record ]]; then
		program=$(_kymo_program "$kymo")
		if [[ $program ]]; then
			if ((COMP_CWORD == program)); then
				mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			else
				_kymo_files
			fi
			return
		fi
	fi
	_kymo_value "$kymo" "$command" "$previous" && return
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$kymo" "$command" --help 2>/dev/null |
			grep -Eo -- '^ +(-[a-zA-Z], )?--[a-z-]+|^ +-[a-zA-Z]' | tr -d ' ' | tr , '\n')" -- "$cur")
	elif [[ $command == record ]]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$cur")
	elif [[ $command == doctor || $command == types ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_kymo_sources "$kymo")" -- "$cur")
		[[ ${COMPREPLY[0]} ]] || _kymo_files
	else
		_kymo_files
	fi
}

complete -F _kymo kymo
