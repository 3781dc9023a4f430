"""Checks the layout of C++ files (clang-format) and the layout and style of Python files (ruff)."""

import subprocess
import sys
from pathlib import Path

import tree

BIN = Path(sys.executable).parent


def check(root: Path) -> list[str]:
    configuration = tree.REPOSITORY / "pyproject.toml"
    commands = [
        [BIN / "ruff", "check", "--quiet", "--no-cache", "--config", configuration, root],
        [BIN / "ruff", "format", "--quiet", "--no-cache", "--check", "--diff", "--config", configuration, root],
    ]
    if cpp_files := tree.files(root, tree.CPP, ("csrc", "tests")):
        style = f"--style=file:{tree.REPOSITORY / '.clang-format'}"
        commands.append([BIN / "clang-format", style, "--dry-run", "-Werror", "--ferror-limit=3", *cpp_files])
    return [complaint for command in commands if (complaint := run(command))]


def run(command: list) -> str:
    """What a failing command says; empty when it succeeds."""
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 0:
        return ""
    return f"{result.stdout}{result.stderr}".strip() or f"{command[0]} failed with exit code {result.returncode}"


if __name__ == "__main__":
    tree.main(check)
