"""What a run did, measured: gathered from the C++ counters, written as JSON, shown on one screen."""

import dataclasses
import datetime
import io
import json
import os
import platform
import sys
import tempfile
import textwrap
from collections import defaultdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from opentrn import _extension, _load
from opentrn._script import Outcome

SCHEMA_VERSION = 1
_TOP_OPERATORS = 5
_TOP_LINES = 5
_COMMAND_LENGTH = 150
_KINDS = ("engine", "compile", "transfer", "fallback")


@dataclasses.dataclass(frozen=True)
class Run:
    """One finished run of a script."""

    command: list[str]
    started: datetime.datetime
    wall_milliseconds: float
    outcome: Outcome


def collect(run: Run) -> dict[str, Any]:
    """The report as plain data. Without a device it says why and has no statistics."""
    import torch

    report = {
        "schema": SCHEMA_VERSION,
        "command": run.command,
        "started": run.started.isoformat(timespec="seconds"),
        "exit_status": run.outcome.exit_status,
        "exception": run.outcome.exception or None,
        "versions": {
            "opentrn": _load.installed_version(),
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
        "wall_milliseconds": run.wall_milliseconds,
        "target": None,
        "engine": None,
        "unavailable": _load.state().cause or None,
        "statistics": None,
    }
    native = _extension.native
    if _extension.is_loaded() and native.is_initialized():
        report["target"] = native.target_name()
        report["engine"] = native.engine_name()
        report["statistics"] = native.statistics()
    return report


def write(report: dict[str, Any], path: Path) -> None:
    """Writes the report in one step: a reader never sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            json.dump(report, file, indent=1)
            file.write("\n")
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(partial, 0o666 & ~mask)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def show(report: dict[str, Any], place: str, console: Console) -> None:
    """Prints the summary; `place` says where the report is."""
    status = "" if report["exit_status"] == 0 else f", exit status {report['exit_status']}"
    title = f"opentrn run: {report['wall_milliseconds'] / 1000:.1f} s{status}"
    command = textwrap.shorten(" ".join(report["command"]), _COMMAND_LENGTH, placeholder=" ...")
    console.print(Rule(Text(title), style="dim"))
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for title, text in [("Command", command), *rows(report), ("Report", place)]:
        table.add_row(title, Text(text))
    console.print(Padding(table, (0, 0, 0, 1)))


def rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    """The lines of the summary as (title, text)."""
    statistics = report["statistics"]
    if statistics is None:
        cause = report["unavailable"]
        return [("Device", f"not available: {cause}" if cause else "never used: nothing in this run ran on neuron")]
    return [
        ("Device", f"neuron as {report['target']}, engine {report['engine']}"),
        ("Operators", _operators(statistics["operators"])),
        ("Fallbacks", _fallbacks(statistics["fallbacks"])),
        ("Transfers", _transfers(statistics["transfers"])),
        ("Synchronisations", _synchronisations(statistics["synchronisations"])),
        ("Programs", _programs(statistics["programs"])),
        *_notes(statistics["notes"]),
        ("Device memory", _memory(statistics["memory"])),
        ("Wall time", _wall_time(statistics["milliseconds"], report["wall_milliseconds"])),
    ]


def _notes(notes: list[dict]) -> list[tuple[str, str]]:
    """What no tile program computes, and what a NeuronCore has no unit for: a line each, when there is any."""
    lines = []
    for title, kind in (("Library calls", "library call"), ("No native unit", "no native unit")):
        operators: dict[str, set[str]] = defaultdict(set)
        for note in notes:
            if note["kind"] == kind:
                operators[note["what"]].add(note["operator"])
        if operators:
            found = [f"{what} ({', '.join(sorted(names))})" for what, names in sorted(operators.items())]
            more = [f"and {len(found) - _TOP_LINES} more"] if len(found) > _TOP_LINES else []
            lines.append((title, "\n".join(found[:_TOP_LINES] + more)))
    return lines


def _operators(operators: list[dict]) -> str:
    calls = sum(row["calls"] for row in operators)
    text = f"{calls:,} calls of {len(operators)} operators ran natively"
    top = sorted(operators, key=lambda row: row["engine_ms"], reverse=True)[:_TOP_OPERATORS]
    shown = [f"{row['name']} {duration(row['engine_ms'])} ({row['calls']:,})" for row in top if row["engine_ms"] > 0]
    return text + ("\nmost engine time: " + ", ".join(shown) if shown else "")


def _fallbacks(fallbacks: list[dict]) -> str:
    if not fallbacks:
        return "none"
    calls = sum(row["calls"] for row in fallbacks)
    cost = sum(row["milliseconds"] for row in fallbacks)
    lines = [f"{calls:,} calls ran on the CPU, {duration(cost)}"]
    worst = sorted(fallbacks, key=lambda row: row["milliseconds"], reverse=True)
    for row in worst[:_TOP_LINES]:
        moved = size(row["bytes_to_host"] + row["bytes_to_device"])
        lines.append(
            f"{row['operator']} at {row['line']}: {row['calls']:,} calls, {duration(row['milliseconds'])}, "
            f"{moved} moved, {row['reason']}"
        )
    if len(worst) > _TOP_LINES:
        lines.append(f"and {len(worst) - _TOP_LINES} more in the report")
    return "\n".join(lines)


def _transfers(transfers: dict[str, dict]) -> str:
    ways = (("host to device", "host_to_device"), ("device to host", "device_to_host"))
    return "; ".join(f"{title} {size(transfers[key]['bytes'])} in {transfers[key]['count']:,}" for title, key in ways)


def _synchronisations(waits: list[dict]) -> str:
    if not waits:
        return "none"
    by_line: dict[str, list] = defaultdict(lambda: [0, 0.0, set()])
    for row in waits:
        entry = by_line[row["line"]]
        entry[0] += row["count"]
        entry[1] += row["milliseconds"]
        entry[2].add(row["kind"])
    top = sorted(by_line.items(), key=lambda item: item[1][0], reverse=True)
    lines = [f"{sum(entry[0] for _, entry in top):,} from {len(top)} {'line' if len(top) == 1 else 'lines'}"]
    for line, (count, cost, kinds) in top[:_TOP_LINES]:
        lines.append(f"{line or 'unknown line'}: {count:,} ({', '.join(sorted(kinds))}), {duration(cost)}")
    return "\n".join(lines)


def _programs(programs: dict[str, Any]) -> str:
    hits, compiled = programs["cache_hits"], programs["compiled"]
    share = f" ({100 * hits / (hits + compiled):.1f}%)" if hits + compiled else ""
    return f"{compiled:,} compiled in {duration(programs['milliseconds'])}, {hits:,} cache hits{share}"


def _memory(memory: dict[str, int]) -> str:
    return f"peak {size(memory['peak_allocated'])} of {size(memory['total'])}, {size(memory['allocated'])} at the end"


def _wall_time(milliseconds: dict[str, float], wall: float) -> str:
    parts = [(kind, milliseconds[kind]) for kind in _KINDS]
    rest = wall - sum(value for _, value in parts)
    if rest < 0:
        # Several threads worked at once: shares of the wall time would mean nothing.
        return ", ".join(f"{kind} {duration(value)}" for kind, value in parts) + " (summed over threads)"
    parts.append(("Python and everything else", rest))
    return ", ".join(f"{kind} {duration(value)} ({100 * value / wall:.0f}%)" for kind, value in parts)


def duration(milliseconds: float) -> str:
    """'12 us', '3.4 ms', '5.6 s'."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    if milliseconds >= 1 or milliseconds == 0:
        return f"{milliseconds:.1f} ms"
    return f"{milliseconds * 1000:.0f} us"


def size(count: int) -> str:
    """'512 B', '3.4 MiB'."""
    amount = float(count)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def summary_console() -> Console:
    """Where the summary goes: stderr, so that the script's own output can be piped, and nowhere when there is none."""
    usable = sys.stderr is not None and not sys.stderr.closed
    # Without a file the console would write to stdout.
    return Console(file=sys.stderr if usable else io.StringIO(), highlight=False)
