#!/usr/bin/env python3
"""Checks that a file does not compile, and for the right reason.

The file's first line is `// expect-error: REGEX`. Without a definition the compiler must refuse it with an error that
matches; with -DTENURE_CONTROL, which takes the wrong line out, it must accept it.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path


def compile_only(compiler: str, flags: list, source: Path) -> subprocess.CompletedProcess:
    return subprocess.run([compiler, "-fsyntax-only", *flags, str(source)], capture_output=True, text=True, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--flags", nargs=argparse.REMAINDER, default=[], help="flags for the compiler; stands last")
    arguments = parser.parse_args()

    first_line = arguments.source.read_text().split("\n", 1)[0]
    expected = re.fullmatch(r"// expect-error: (.+)", first_line)
    if not expected:
        print(f"{arguments.source}:1: the first line must be `// expect-error: REGEX`, it is: {first_line}")
        return 1

    control = compile_only(arguments.compiler, ["-DTENURE_CONTROL", *arguments.flags], arguments.source)
    if control.returncode != 0:
        print(f"{arguments.source}: the control (-DTENURE_CONTROL) must compile, but:\n{control.stderr}")
        return 1
    refused = compile_only(arguments.compiler, arguments.flags, arguments.source)
    if refused.returncode == 0:
        print(f"{arguments.source}: compiled, expected an error matching: {expected[1]}")
        return 1
    if not re.search(expected[1], refused.stderr):
        print(f"{arguments.source}: no error matches {expected[1]}; the compiler said:\n{refused.stderr}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
