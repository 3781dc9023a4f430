"""Runs the parts of `make test` one after the other, all of them even if one fails, and sums them up."""

import os
import re
import subprocess
import sys
import time
from typing import NamedTuple

PARTS = {
    "source checks": "check",
    "build": "build",
    "C++ tests": "test-cpp",
    "C++ tests, address and undefined behaviour sanitizers": "asan",
    "C++ tests, thread sanitizer": "tsan",
    "clang": "check-clang",
    "Python tests": "test-python",
    "wheel": "test-wheel",
}
# What a part says about itself: the last line of pytest, the verdict of ctest, the count or excuse of the clang check.
DETAIL = re.compile(r"(\d+ (?:passed|failed|error).*? in [\d.]+s|\d+% tests passed.*|\d+ files with .*|not run: .*)")


class Outcome(NamedTuple):
    part: str
    passed: bool
    seconds: float
    detail: str


def run(part: str, target: str) -> Outcome:
    print(f"\n=== {part}", flush=True)
    started = time.monotonic()
    process = subprocess.Popen(
        [os.environ.get("MAKE", "make"), target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    detail = ""
    for line in process.stdout:
        print(line, end="", flush=True)
        if match := DETAIL.search(line):
            detail = match[1]
    passed = process.wait() == 0
    return Outcome(part, passed, time.monotonic() - started, detail)


def main() -> None:
    outcomes = [run(part, target) for part, target in PARTS.items()]
    print("\n=== summary")
    width = max(len(part) for part in PARTS)
    for part, passed, seconds, detail in outcomes:
        print(f"{part:<{width}}  {'ok    ' if passed else 'FAILED'}  {seconds:6.1f} s  {detail}".rstrip())
    sys.exit(0 if all(outcome.passed for outcome in outcomes) else 1)


if __name__ == "__main__":
    main()
