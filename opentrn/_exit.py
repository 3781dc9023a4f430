"""What happens when the interpreter ends: the device is waited for, and work that left it is mentioned once."""

import atexit
import datetime
import os
import sys
import time
from collections import Counter
from pathlib import Path

from opentrn._extension import native

# `opentrn run` prints a summary and writes the report itself.
wanted = True

_started = datetime.datetime.now().astimezone()
_start = time.perf_counter()


def install() -> None:
    """Registers the exit handlers, and turns timing on when a report was asked for."""
    atexit.register(_at_exit)
    if os.environ.get("OPENTRN_REPORT"):
        native.set_timing(True)


def fallback_line() -> str:
    """One line about the calls that ran on the CPU, empty when there were none."""
    calls = Counter()
    for row in native.statistics()["fallbacks"]:
        calls[row["operator"]] += row["calls"]
    if not calls:
        return ""
    shown = ", ".join(f"{name} ({count})" for name, count in calls.most_common(3))
    if len(calls) > 3:
        shown += f" and {len(calls) - 3} more"
    total = calls.total()
    return (
        f"[opentrn] {total} {'call' if total == 1 else 'calls'} ran on the CPU instead of neuron: {shown}; "
        "do: `opentrn run SCRIPT` shows where and at what cost, OPENTRN_FALLBACK=error forbids it"
    )


def _write_report(path: str) -> None:
    # Not at the top: it takes time that programs without a report should not spend.
    from opentrn import report
    from opentrn._script import Outcome

    # What the process will end with is not known while it still ends.
    outcome = Outcome(exit_status=None)
    run = report.Run(sys.argv, _started, 1000 * (time.perf_counter() - _start), outcome)
    report.write(report.collect(run), Path(path))


def _finish() -> str:
    line = ""
    path = os.environ.get("OPENTRN_REPORT")
    # Before the wait below, which would be counted as one of the program's.
    if wanted and path:
        _write_report(path)
    if wanted and native.fallback_mode() != "silent":
        line = fallback_line()
    for index in range(native.device_count()):
        native.synchronize(index)
    return line


def _at_exit() -> None:
    if not native.is_initialized():
        return
    try:
        native.end_autograd_threads()
        line = _finish()
    except Exception as error:
        line = f"[opentrn] at exit: {error}"
    if line and sys.stderr is not None:
        print(line, file=sys.stderr)
