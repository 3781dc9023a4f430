"""Microseconds per operator on tensors of 8 floats: torch on the CPU, neuron, and neuron with the engine paused.

With the engine paused everything but the computation happens: the call is dispatched, its program is found in the cache
and its result is allocated. That is what the backend adds to an operator.
"""

import statistics
import time
from collections.abc import Callable

import torch
from harness import Row, finish, json_argument

from opentrn import _extension

ELEMENTS = 8
CALLS = 2000
REPEATS = 31


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


def rows(medians: dict[str, dict[str, float]]) -> list[Row]:
    """The operator itself, and what of it is the backend's part (its engine paused)."""
    result = []
    for name, times in medians.items():
        cpu = times["cpu"] / 1000
        result.append(Row(f"{name}, everything", times["neuron"] / 1000, "torch CPU", cpu, 0.5))
        result.append(Row(f"{name}, engine paused", times["paused"] / 1000, "torch CPU", cpu, None))
    return result


def main() -> None:
    path = json_argument(__doc__.splitlines()[0])
    torch.set_num_threads(1)
    with torch.no_grad():
        medians = measure(CALLS, REPEATS)
    finish(f"One operator on {ELEMENTS} floats", rows(medians), path)


if __name__ == "__main__":
    main()
