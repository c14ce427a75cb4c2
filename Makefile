# SPDX-License-Identifier: BSD-3-Clause
# Doors over meson and tools/; the build itself is described in meson.build.

MESON ?= meson
BUILD ?= build
JOBS ?= $(shell nproc)
# Installs missing packages. Where you install them yourself: make SETUP=true check
SETUP ?= tools/setup

# A build that was set up before packages came looks for them again.
AGAIN = test ! -e $(BUILD)/build.ninja || { test $(BUILD)/build.ninja -nt /var/lib/dpkg/status && \
	test $(BUILD)/build.ninja -nt .deps; } || $(MESON) setup --reconfigure $(BUILD)

all: $(BUILD)/build.ninja
	@$(MESON) compile -C $(BUILD) -j $(JOBS)

$(BUILD)/build.ninja:
	$(MESON) setup $(BUILD)

check:
	@$(SETUP)
	@$(AGAIN)
	@$(MAKE) --no-print-directory all
	@MESON=$(MESON) tools/run-tests $(BUILD) --num-processes $(JOBS)

demo: SETUP += --demo
demo:
	@$(SETUP)
	@$(MAKE) --no-print-directory $(BUILD)/build.ninja
	@$(MESON) compile -C $(BUILD) -j $(JOBS) product
	$(BUILD)/kymo record -f -o demo-trace.json -- clpeak --kernel-latency
	$(BUILD)/kymo info demo-trace.json

# A build of its own: numbers of an unoptimised library mean nothing.
bench:
	@test -e $(BUILD)-release/build.ninja || $(MESON) setup --buildtype release $(BUILD)-release
	@$(MESON) compile -C $(BUILD)-release -j $(JOBS)
	@$(MESON) test -C $(BUILD)-release --benchmark --verbose

install: $(BUILD)/build.ninja
	@test -z "$(PREFIX)" || $(MESON) configure $(BUILD) -Dprefix="$(PREFIX)"
	@$(MESON) compile -C $(BUILD) -j $(JOBS) product
	DESTDIR="$(DESTDIR)" $(MESON) install -C $(BUILD) --no-rebuild

format:
	@tools/check-format --fix

clean:
	rm -rf $(BUILD) $(BUILD)-release

help:
	@echo 'make            build $(BUILD)/kymo, the library and the plug-ins'
	@echo 'make check      install what is missing, build, run all tests'
	@echo 'make demo       install what it needs, build no tests, record a real OpenCL program'
	@echo 'make bench      build optimised, run the benchmarks'
	@echo 'make install    install below PREFIX (as meson says), under DESTDIR'
	@echo 'make format     rewrite the C files by .clang-format'
	@echo 'make clean      remove the build directories'
	@echo 'Variables: BUILD=build JOBS=n MESON=meson SETUP=tools/setup PREFIX= DESTDIR='

.PHONY: all check demo bench install format clean help
