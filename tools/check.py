"""Runs every source check; `check.py [folder]`, by default on this repository."""

import sys
from pathlib import Path

import check_format
import check_layers
import check_length
import check_paths
import tree

CHECKS = {
    "layer includes": check_layers.check,
    "file length": check_length.check,
    "machine paths": check_paths.check,
    "format and lint": check_format.check,
}


def check_all(root: Path) -> list[str]:
    complaints = []
    for name, check in CHECKS.items():
        found = check(root)
        print(f"{name}: {'ok' if not found else f'{len(found)} complaints'}")
        sys.stdout.flush()
        complaints += found
    return complaints


if __name__ == "__main__":
    tree.main(check_all)
