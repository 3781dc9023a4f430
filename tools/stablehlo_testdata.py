"""Runs every StableHLO module of a folder, and says which pass.

    .venv/bin/python tools/stablehlo_testdata.py FOLDER [--engine ENGINE] [--jobs JOBS]

Made for the folder `stablehlo/testdata` of github.com/openxla/stablehlo, whose modules check their own results; see
docs/stablehlo.md. A module without checks passes when it runs. Sizes written "?" stand for --size.
"""

import argparse
import collections
import concurrent.futures
import re
import sys
from pathlib import Path

DISABLED = "RUN-DISABLED"  # how the modules' authors mark those that StableHLO's own interpreter fails


def main() -> None:
    options = _parse_arguments()
    paths = sorted(options.folder.rglob("*.mlir"))
    if not paths:
        sys.exit(f"[stablehlo_testdata] there are no modules, got {options.folder}, expected .mlir files below it")
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(_run, paths, *([value] * len(paths) for value in _settings(options)), chunksize=16))
    failures = [outcome for outcome in outcomes if outcome[1]]
    _show(options.folder, failures)
    _total("all", outcomes)
    _total("with checks of their own", [outcome for outcome in outcomes if outcome[2]])
    _total("of these, not disabled by their authors", [o for o in outcomes if o[2] and not o[3]])
    sys.exit(1 if failures else 0)


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Run every StableHLO module of a folder.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", default="reference", help="reference or core")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--size", type=int, default=4, help="what sizes written '?' stand for")
    parser.add_argument("--fill", type=float, default=1.0, help="what every element of every argument is")
    return parser.parse_args()


def _settings(options: argparse.Namespace) -> tuple[str, int, float]:
    return options.engine, options.size, options.fill


def _run(path: Path, engine: str, size: int, fill: float) -> tuple[Path, str, bool, bool]:
    """The module, why it failed (empty when it passed), whether it checks itself, whether it is marked as disabled."""
    import opentrn  # noqa: F401  (loads the extension)
    from opentrn import _extension

    text = path.read_text(encoding="utf-8")
    reason = ""
    try:
        _extension.native.run_stablehlo(text, engine, size, fill)
    except (RuntimeError, ValueError, IndexError, NotImplementedError) as error:
        reason = str(error)
    return path, reason, "check." in text, DISABLED in text


def _kind(reason: str) -> str:
    """The reason without the places and numbers that differ from module to module."""
    without_place = re.sub(r"line \d+, column \d+", "line", reason)
    return re.sub(r"-?\d[\d.e+-]*", "N", without_place.split(", got")[0])


def _show(folder: Path, failures: list[tuple[Path, str, bool, bool]]) -> None:
    by_kind = collections.defaultdict(list)
    for path, reason, _, disabled in failures:
        by_kind[_kind(reason)].append((path, reason, disabled))
    for kind, members in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        print(f"{len(members)} x {kind}")
        for path, reason, disabled in members:
            print(f"    {path.relative_to(folder)}{' (disabled)' if disabled else ''}: {reason}")


def _total(what: str, outcomes: list[tuple[Path, str, bool, bool]]) -> None:
    passed = sum(not outcome[1] for outcome in outcomes)
    share = f"{100 * passed / len(outcomes):.1f} %" if outcomes else "none"
    print(f"{passed} of {len(outcomes)} modules pass ({share}): {what}")


if __name__ == "__main__":
    main()
