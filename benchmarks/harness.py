"""What the benchmarks share: taking turns, ratios, and one table per subject."""

import argparse
import dataclasses
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

import opentrn  # noqa: F401  registers the device even where autoload is off

# Between turns: the threads of OpenMP keep a core busy for milliseconds after their last loop.
REST = 0.05


@dataclasses.dataclass(frozen=True)
class Row:
    """One piece of work: how long neuron takes, and the fastest of what it is compared with."""

    work: str
    milliseconds: float
    baseline: str
    baseline_milliseconds: float
    at_least: float | None  # the speed asked for, as a multiple of the baseline's

    @property
    def speed(self) -> float:
        return self.baseline_milliseconds / self.milliseconds


def seconds(call: Callable[[], object], calls: int) -> float:
    """The mean time of one of `calls` calls."""
    counter = range(calls)
    start = time.perf_counter()
    for _ in counter:
        call()
    torch.accelerator.synchronize()
    return (time.perf_counter() - start) / calls


def take_turns(ways: dict[str, Callable[[], object]], repeats: int = 9, target: float = 0.02) -> dict[str, float]:
    """The median seconds of one call of each way. A slow moment of the machine hits all of them."""
    calls = {}
    for name, call in ways.items():
        seconds(call, 3)
        calls[name] = max(1, min(2000, int(target / max(seconds(call, 1), 1e-7))))
    samples = {name: [] for name in ways}
    for _ in range(repeats):
        for name, call in ways.items():
            time.sleep(REST)
            seconds(call, 1 + calls[name] // 2)
            samples[name].append(seconds(call, calls[name]))
    return {name: statistics.median(taken) for name, taken in samples.items()}


def row(work: str, ways: dict[str, Callable[[], object]], at_least: float | None, repeats: int = 9) -> Row:
    """Compares the way `neuron` with the fastest of all others."""
    medians = take_turns(ways, repeats)
    neuron = medians.pop("neuron")
    best = min(medians, key=medians.get)
    return Row(work, 1e3 * neuron, best, 1e3 * medians[best], at_least)


def finish(title: str, rows: list[Row], json_path: Path | None) -> None:
    table = Table(title=title)
    table.add_column("work")
    for heading in ("neuron, ms", "baseline", "its ms", "speed", "asked"):
        table.add_column(heading, justify="right")
    for line in rows:
        asked = "" if line.at_least is None else f"{line.at_least:.1f}x"
        cells = (f"{line.milliseconds:.3g}", line.baseline, f"{line.baseline_milliseconds:.3g}", f"{line.speed:.2f}x")
        table.add_row(line.work, *cells, asked)
    Console().print(table)
    if json_path:
        json_path.write_text(
            json.dumps({"title": title, "rows": [dataclasses.asdict(line) for line in rows]}, indent=1)
        )


def json_argument(description: str) -> Path | None:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows to FILE")
    return parser.parse_args().json
