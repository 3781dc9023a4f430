"""Checks that no file names a folder of one particular machine."""

import re
from pathlib import Path

import tree

# A path that starts in a folder that only some machines have, or one that leaves the repository.
MACHINE_PATH = re.compile(r"(?<![\w./}\])-])/(work|tmp|root|home|Users)/\w|\.\./shared\b")


def check(root: Path) -> list[str]:
    complaints = []
    for path in tree.files(root, tree.TEXT):
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
            if match := MACHINE_PATH.search(line):
                complaints.append(f"{path.relative_to(root)}:{number}: machine path {match[0]!r}")
    return complaints


if __name__ == "__main__":
    tree.main(check)
