"""The record of how every operator of PyTorch's test database runs. Run as a program, it is made anew.

`outcomes.txt` has a line for each operator: its name, then `test=class` for each test. `exceptions.txt`, made with it,
says why a test is not native: the operators that ran on the CPU, the error, or the difference.
"""

import collections
import concurrent.futures
import os
from pathlib import Path

FOLDER = Path(__file__).parent
RECORD = FOLDER / "outcomes.txt"
EXCEPTIONS = FOLDER / "exceptions.txt"


def read() -> dict[str, dict[str, str]]:
    """Class by operator and test."""
    record = {}
    for line in RECORD.read_text().splitlines():
        name, *tests = line.split("\t")
        record[name] = dict(test.split("=") for test in tests)
    return record


def run(name: str) -> tuple[str, dict[str, tuple[str, str]]]:
    import harness

    op = harness.operators()[name]
    found = {}
    for test, dtype, backward in harness.tests_of(op):
        outcome = harness.run_test(op, dtype, backward)
        found[test] = (outcome.kind, outcome.detail)
    return name, found


def main() -> None:
    import harness

    names = sorted(harness.operators())
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        found = dict(pool.map(run, names, chunksize=8))
    lines, exceptions, counts = [], [], collections.Counter()
    for name, tests in found.items():
        lines.append("\t".join([name, *(f"{test}={kind}" for test, (kind, _) in tests.items())]))
        counts.update(kind for kind, _ in tests.values())
        exceptions += [f"{name}\t{test}\t{kind}\t{why}" for test, (kind, why) in tests.items() if kind != "native"]
    RECORD.write_text("\n".join(lines) + "\n")
    EXCEPTIONS.write_text("\n".join(exceptions) + "\n")
    total = counts.total()
    print(
        ", ".join(f"{kind} {count} ({100 * count / total:.1f} %)" for kind, count in counts.most_common()), "of", total
    )


if __name__ == "__main__":
    main()
