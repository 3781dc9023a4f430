"""The files that the checks look at."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
CPP = (".cpp", ".h")
TEXT = (*CPP, ".py", ".sh", ".cmake", ".md", ".txt", ".toml", ".json", ".in", ".mlir", "")


def files(root: Path, suffixes: tuple[str, ...], folders: tuple[str, ...] = ()) -> list[Path]:
    """Files below `root`, or below its `folders`, that git does not ignore; in a plain folder, all files."""
    if (root / ".git").exists():
        listing = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            check=True,
            capture_output=True,
            text=True,
        )
        candidates = [root / name for name in listing.stdout.split("\0") if name]
    else:
        candidates = list(root.rglob("*"))
    tops = tuple(root / folder for folder in folders) or (root,)
    return sorted(
        path
        for path in candidates
        if path.suffix in suffixes and path.is_file() and any(path.is_relative_to(top) for top in tops)
    )


def main(check: Callable[[Path], list[str]]) -> None:
    """Runs a check on the folder named on the command line, or on this repository; exits 1 if it complains."""
    root = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else REPOSITORY
    complaints = check(root)
    print("\n".join(complaints), end="\n" if complaints else "")
    sys.exit(1 if complaints else 0)
