"""Checks that no source file is over 500 lines without a line `long file: <reason>` among its first 20."""

import re
from pathlib import Path

import tree

LIMIT = 500
REASON = re.compile(r"long file: \S+")


def check(root: Path) -> list[str]:
    complaints = []
    for path in tree.files(root, (*tree.CPP, ".py", ".sh", ".cmake")):
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > LIMIT and not any(REASON.search(line) for line in lines[:20]):
            complaints.append(
                f"{path.relative_to(root)}: {len(lines)} lines, expected at most {LIMIT}, split it by family "
                f"or say `long file: <reason>` in its first 20 lines"
            )
    return complaints


if __name__ == "__main__":
    tree.main(check)
