"""Compiles libopentrn with clang 14 or newer, syntax and warnings only, warnings as errors."""

import os
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import tree

OLDEST = 14
NEWEST = 30
FLAGS = ("-std=c++20", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-fno-math-errno")


def find_clang() -> str | None:
    """The newest clang++ installed, if it is new enough."""
    for name in (*(f"clang++-{version}" for version in range(NEWEST, OLDEST - 1, -1)), "clang++"):
        if (path := shutil.which(name)) and version_of(path) >= OLDEST:
            return path
    return None


def version_of(compiler: str) -> int:
    output = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    match = re.search(r"version (\d+)\.", output)
    return int(match[1]) if match else 0


def check(root: Path) -> list[str]:
    compiler = find_clang()
    if compiler is None:
        print(f"not run: no clang++ {OLDEST} or newer, install the package clang")
        return []
    sources = [path for path in tree.files(root, (".cpp",), ("csrc",)) if path.relative_to(root).parts[1] != "torch"]

    def clang(*arguments: str | Path) -> str:
        command = [compiler, *FLAGS, "-I", root / "csrc", *arguments]
        return subprocess.run(command, capture_output=True, text=True).stderr.strip()

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        precompiled = Path(folder) / "pch.h.pch"
        if complaint := clang("-x", "c++-header", root / "csrc/base/pch.h", "-o", precompiled):
            return [complaint]
        complaints = [
            text for text in pool.map(partial(clang, "-fsyntax-only", "-include-pch", precompiled), sources) if text
        ]
    print(f"{len(sources)} files with {Path(compiler).name} {version_of(compiler)}")
    return complaints


if __name__ == "__main__":
    tree.main(check)
