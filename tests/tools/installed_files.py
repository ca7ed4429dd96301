#!/usr/bin/env python3
"""What is installed resists faults: no library is looked for in the current directory, tables of addresses are
read-only, stacks cannot be executed, no shell is started. And libardoise.so, which programs load, exports, calls and starts nothing that is
not on a list with its reason (preload_names.txt)."""
import argparse
import fnmatch
import pathlib
import re
import subprocess
import sys
import tempfile


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def faults_of_file(path):
    dynamic = output_of("readelf", "-dW", path)
    segments = output_of("readelf", "-lW", path)
    for found in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", dynamic):
        for element in found.split(":"):
            if not element.startswith(("/", "$ORIGIN/")):
                yield f"looks for libraries in '{element}' ({found})"
    if "GNU_RELRO" not in segments or not re.search(r"BIND_NOW|FLAGS_1.*NOW", dynamic):
        yield "its table of addresses can be written"
    if not re.search(r"GNU_STACK.*\bRW\s", segments):
        yield "its stack can be executed"
    if "TEXTREL" in dynamic:
        yield "its code is written when it is loaded"
    if re.search(r"LOAD.*\bRWE\b", segments):
        yield "it has memory that can be written and executed"
    for name in sorted(names_in(path, "--undefined-only") & {"system", "popen", "wordexp"}):
        yield f"it starts a shell ({name})"


def names_in(library, which):
    symbols = output_of("nm", "-D", which, library)
    return {line.split()[-1].split("@")[0] for line in symbols.splitlines()}


def constructors_of(library):
    """Names of the functions in .init_array, of a library that is not stripped."""
    section = re.search(r"\.init_array\s+INIT_ARRAY\s+(\w+)\s+\w+\s+(\w+)", output_of("readelf", "-SW", library))
    begin, size = (int(number, 16) for number in section.groups())
    relocations = re.findall(r"^(\w+)\s+\w+\s+R_X86_64_RELATIVE\s+(\w+)", output_of("readelf", "-rW", library), re.M)
    wanted = {int(to, 16) for at, to in relocations if begin <= int(at, 16) < begin + size}
    symbols = (line.split(" ", 2) for line in output_of("nm", "-C", library).splitlines())
    return {parts[2] for parts in symbols if len(parts) == 3 and parts[0] and int(parts[0], 16) in wanted}


def read_lists(path):
    """Patterns by section; each follows a line that begins with # and gives the reason."""
    lists, section, reason = {}, None, False
    for line in path.read_text().splitlines():
        if line.startswith("["):
            section, reason = lists.setdefault(line.strip("[]"), []), False
        elif line.startswith("#"):
            reason = True
        elif line.strip():
            if section is None or not reason:
                sys.exit(f"{path}: '{line}' has no section or no reason")
            section.extend([line.strip()] if "(" in line else line.split())
    return lists


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--build", type=pathlib.Path, required=True)
    options.add_argument("--cmake", required=True)
    options.add_argument("--names", type=pathlib.Path, required=True)
    options = options.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run([options.cmake, "--install", options.build, "--prefix", prefix], check=True, capture_output=True)
        files = [path for path in pathlib.Path(prefix).rglob("*")
                 if path.is_file() and not path.is_symlink() and is_elf(path)]
        # Users who do not install use these built files.
        built = [path for folder in ("bin", "lib", "lib/ardoise") for path in (options.build / folder).glob("*")
                 if path.is_file() and path.name in {file.name for file in files}]
        if len(files) < 10 or len(built) < 10:
            faults.append(f"{len(files)} files were installed, {len(built)} built")
        for path in files + built:
            faults += [f"{path}: {fault}" for fault in faults_of_file(path)]

    library = options.build / "lib/libardoise.so"
    lists = read_lists(options.names)
    for section, names in (("exported", names_in(library, "--defined-only")),
                           ("called", names_in(library, "--undefined-only")),
                           ("constructors", constructors_of(library))):
        if not names:
            faults.append(f"{library}: no {section} names are found")
        patterns = lists[section]
        for name in sorted(names):
            if not any(name == pattern or fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
                faults.append(f"{library}: '{name}' is not in the list of {section} names ({options.names})")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
