#!/usr/bin/env python3
"""The examples of docs/reference/losses.md: each call of MPI in C and Fortran names a function of mpi.h and has as many
arguments, brackets are closed, and Python compiles. The examples are parts of programs, so no compiler takes them."""
import argparse
import pathlib
import re
import subprocess
import sys


def prototypes(compiler):
    """{function: number of its parameters} of mpi.h as this MPI has it."""
    text = subprocess.run([compiler, "-E", "-P", "-x", "c", "-"], input="#include <mpi.h>\n", check=True,
                          capture_output=True, text=True).stdout
    found = {}
    for name, parameters in re.findall(r"\b(MPI_[A-Z]\w*)\s*\(([^;{]*?)\)\s*(?:__attribute__[^;]*)?;", text):
        found[name] = 0 if parameters.strip() in ("void", "") else len(split(parameters))
    return found


def split(text):
    """The parts between commas outside of brackets and strings."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append("")
            continue
        parts[-1] += character
    return parts


def calls(code):
    """(function, text of its arguments) of each call; None: its bracket is not closed."""
    for found in re.finditer(r"\b(MPI_[A-Z]\w*)\s*\(", code):
        depth, end = 1, found.end()
        while depth and end < len(code):
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        yield found[1], None if depth else code[found.end():end - 1]


def faults(language, code, known):
    if language == "python":
        try:
            compile(code, "example", "exec")
        except SyntaxError as error:
            yield str(error)
        return
    if language == "c":
        code = re.sub(r"/\*.*?\*/|//[^\n]*", " ", code, flags=re.S)
        for opens, closes in ("()", "[]", "{}"):
            if code.count(opens) != code.count(closes):
                yield f"{opens} and {closes} do not match"
    else:
        code = re.sub(r"&\s*\n\s*&?", " ", re.sub(r"![^\n]*", "", code))
    for name, arguments in calls(code):
        if name not in known:
            if name in ("MPI_Wtime", "MPI_Wtick") or (language == "fortran" and name.startswith("MPI_SIZEOF")):
                continue
            if language == "fortran" and re.search(rf"type\({name}\)", code):
                continue
            yield f"{name} is not in mpi.h"
        elif arguments is None:
            yield f"the bracket of {name} is not closed"
        else:
            given = len(split(arguments)) if arguments.strip() else 0
            allowed = {known[name]} if language == "c" else {known[name], known[name] + 1}  # ierror
            if given not in allowed:
                yield f"{name} has {given} arguments, in mpi.h {known[name]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--compiler", required=True, help="that finds mpi.h, as mpicc")
    options = parser.parse_args()
    known = prototypes(options.compiler)
    assert known["MPI_Send"] == 6 and len(known) > 300, "mpi.h was not understood"
    page, count, wrong = options.page.read_text(), 0, 0
    for found in re.finditer(r"^```(c|fortran|python)\n(.*?)^```", page, flags=re.S | re.M):
        count += 1
        line = page.count("\n", 0, found.start()) + 1
        for fault in faults(found[1], found[2], known):
            wrong += 1
            print(f"{options.page.name}:{line}: {found[1]}: {fault}")
    print(f"{count} examples, {wrong} faults")
    sys.exit(1 if wrong or count < 100 else 0)


if __name__ == "__main__":
    main()
