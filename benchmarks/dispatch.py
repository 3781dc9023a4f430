"""Microseconds per operator on tensors of 8 floats: torch on the CPU, neuron, and neuron with the engine paused.

With the engine paused everything but the computation happens: the call is dispatched, its program is found in the cache
and its result is allocated. That is what the backend adds to an operator.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

import torch
from rich.console import Console
from rich.table import Table

import opentrn  # noqa: F401  registers the device even where autoload is off
from opentrn import _extension

ELEMENTS = 8


def operators(device: str) -> dict[str, Callable[[], object]]:
    """The measured calls. Each allocates a result, as user code does."""
    x = torch.rand(ELEMENTS).to(device)
    y = torch.rand(ELEMENTS).to(device)
    target = torch.empty_like(x)
    return {
        "add": lambda: torch.add(x, y),
        "mul": lambda: torch.mul(x, y),
        "relu": lambda: torch.relu(x),
        "view": lambda: x.view(2, ELEMENTS // 2),
        "copy": lambda: target.copy_(x),
    }


def microseconds(call: Callable[[], object], calls: int) -> float:
    """The mean time of one of `calls` calls."""
    counter = range(calls)
    start = time.perf_counter()
    for _ in counter:
        call()
    return 1e6 * (time.perf_counter() - start) / calls


def measure(calls: int, repeats: int) -> dict[str, dict[str, float]]:
    """Medians per operator and way. The ways take turns, so that a slow moment of the machine hits all of them."""
    native = _extension.native
    cpu, neuron = operators("cpu"), operators("neuron")
    samples = {name: {"cpu": [], "neuron": [], "paused": []} for name in cpu}
    for name in cpu:
        for call in (cpu[name], neuron[name]):
            microseconds(call, calls)
    for _ in range(repeats):
        for name, taken in samples.items():
            taken["cpu"].append(microseconds(cpu[name], calls))
            taken["neuron"].append(microseconds(neuron[name], calls))
            native._set_engine_paused(True)
            try:
                taken["paused"].append(microseconds(neuron[name], calls))
            finally:
                native._set_engine_paused(False)
    return {name: {way: statistics.median(values) for way, values in taken.items()} for name, taken in samples.items()}


def show(medians: dict[str, dict[str, float]], calls: int, repeats: int) -> None:
    table = Table(title=f"Microseconds per operator, {ELEMENTS} floats, median of {repeats} x {calls} calls")
    table.add_column("operator")
    for title in ("CPU", "neuron", "neuron, engine paused", "neuron / CPU", "paused / CPU", "paused / CPU's add"):
        table.add_column(title, justify="right")
    add = medians["add"]["cpu"]
    for name, times in medians.items():
        cells = [f"{times[way]:.2f}" for way in ("cpu", "neuron", "paused")]
        ratios = (times["neuron"] / times["cpu"], times["paused"] / times["cpu"], times["paused"] / add)
        table.add_row(name, *cells, *(f"{ratio:.2f}" for ratio in ratios))
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=31)
    parser.add_argument("--json", metavar="FILE", help="write the medians to FILE")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with torch.no_grad():
        medians = measure(arguments.calls, arguments.repeats)
    show(medians, arguments.calls, arguments.repeats)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(medians, file, indent=1)


if __name__ == "__main__":
    main()
