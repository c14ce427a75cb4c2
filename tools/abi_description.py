# SPDX-License-Identifier: BSD-3-Clause
"""What abidw says of an object, and whether one description keeps what another one promises.

abidiff cannot decide the latter: its rule for members that are inserted at the end of a struct also
lets pass any other change of that struct, and of what it points to.
"""
import xml.etree.ElementTree

RECORDS = ("class-decl", "union-decl")


class Description:
    """Functions, variables and records by their names; all they are made of, as text."""

    def __init__(self, path):
        self.types, self.functions, self.variables, self.symbols = {}, {}, {}, {}
        self.records, self.enums = {}, {}
        root = xml.etree.ElementTree.parse(path).getroot()
        self.soname = root.get("soname")
        for symbol in root.iter("elf-symbol"):
            self.symbols[self.versioned(symbol)] = symbol.get("size") or "none"
        for element in root.iter():
            if element.get("id") and element.get("is-declaration-only") != "yes":
                self.types.setdefault(element.get("id"), element)
        for element in root.iter():  # of those that nobody defines the name is all there is
            if element.get("id"):
                self.types.setdefault(element.get("id"), element)
        for element in self.types.values():
            if element.tag in RECORDS and element.get("is-anonymous") != "yes":
                if element.get("is-declaration-only") != "yes":
                    self.records[element.get("name")] = element
            if element.tag == "enum-decl":
                self.enums[element.get("name")] = self.enumerators(element)
        for instr in root.iter("abi-instr"):
            for element in instr.findall("function-decl"):
                if element.get("elf-symbol-id"):
                    self.functions[element.get("name")] = self.signature(element)
            for element in instr.findall("var-decl"):
                if element.get("elf-symbol-id"):
                    self.variables[element.get("name")] = self.text(element.get("type-id"))

    @staticmethod
    def versioned(symbol):
        return "@".join(filter(None, (symbol.get("name"), symbol.get("version"))))

    def signature(self, element):
        parameters = ["..." if parameter.get("is-variadic") == "yes" else
                      self.text(parameter.get("type-id")) for parameter in element.findall("parameter")]
        returned = element.find("return")
        result = "void" if returned is None else self.text(returned.get("type-id"))
        return f"{result} ({', '.join(parameters)})"

    @staticmethod
    def enumerators(element):
        return {value.get("name"): value.get("value") for value in element.findall("enumerator")}

    def text(self, number):
        element = self.types[number]
        if element.tag in RECORDS and element.get("is-anonymous") == "yes":
            return "{" + "; ".join(f"{name} {type_}" for name, _, type_ in self.members(element)) + "}"
        if element.tag in RECORDS:
            return element.get("name")
        if element.tag == "enum-decl":
            return f"enum {element.get('name')}"
        if element.tag == "pointer-type-def":
            return self.text(element.get("type-id")) + " *"
        if element.tag == "qualified-type-def":
            words = [word for word in ("const", "volatile", "restrict") if element.get(word) == "yes"]
            return self.text(element.get("type-id")) + " " + " ".join(words)
        if element.tag == "typedef-decl":
            return self.text(element.get("type-id"))
        if element.tag == "array-type-def":
            return f"{self.text(element.get('type-id'))} [{element.get('dimensions')} of " \
                   f"{element.get('size-in-bits')} bits]"
        if element.tag == "function-type":
            return self.signature(element)
        return f"{element.get('name')}"

    def members(self, record):
        """Of each its name, its place in bits, and its type."""
        for member in record.findall("data-member"):
            variable = member.find("var-decl")
            yield (variable.get("name"), int(member.get("layout-offset-in-bits") or 0),
                   self.text(variable.get("type-id")))


def faults_of_record(name, old, new, old_record, new_record):
    promised, built = list(old.members(old_record)), list(new.members(new_record))
    old_size, new_size = (int(record.get("size-in-bits")) for record in (old_record, new_record))
    for before, now in zip(promised, built):
        if before != now:
            yield "{}: where {} was ({}, at bit {}) there is {} ({}, at bit {})".format(
                name, before[0], before[2], before[1], now[0], now[2], now[1])
            return
    if len(built) < len(promised):
        yield f"{name}: {promised[len(built)][0]} is gone"
    elif not promised or promised[0][0] != "struct_size":
        if new_size != old_size or len(built) != len(promised):
            yield f"{name}: has changed its size, and is frozen"
    elif new_size < old_size:
        yield f"{name}: has become smaller"
    for added in built[len(promised):]:
        if added[1] < old_size:
            yield f"{name}: {added[0]} is not behind its end"


def faults_of_names(what, old, new):
    """What each name stands for: of symbols their size, of functions what they take and give."""
    for name, text in sorted(old.items()):
        if name not in new:
            yield f"{what} {name} is gone"
        elif new[name] != text:
            yield f"{what} {name} was {text}, is {new[name]}"


def faults(old_path, new_path):
    """What the new description takes away of what the old one promises."""
    old, new = Description(old_path), Description(new_path)
    yield from faults_of_names("function", old.functions, new.functions)
    yield from faults_of_names("variable", old.variables, new.variables)
    yield from faults_of_names("symbol", old.symbols, new.symbols)
    if new.soname != old.soname:
        yield f"the soname was {old.soname}, is {new.soname}"
    for name, values in sorted(old.enums.items()):
        yield from faults_of_names(f"enum {name}:", values, new.enums.get(name, {}))
    for name, record in sorted(old.records.items()):
        if name in new.records:
            yield from faults_of_record(name, old, new, record, new.records[name])
        else:
            yield f"{name} is gone"
