"""Milliseconds to compile one new operator signature: the first call with new shapes less the second."""

import statistics
import time

import torch
import torch.nn.functional as F
from harness import Row, finish, json_argument

SIGNATURES = 60  # of each operator


def signatures(index: int):
    """Calls with shapes that no earlier call had."""
    rows, columns = 5 + index, 33 + 2 * index
    x = torch.rand(rows, columns, device="neuron")
    y = torch.rand(rows, columns, device="neuron")
    weight = torch.rand(48, columns, device="neuron")
    labels = torch.zeros(rows, dtype=torch.int64, device="neuron")
    table = torch.rand(columns, 16, device="neuron")
    half = x.bfloat16()
    return {
        "add": lambda: x + y,
        "mul, bfloat16": lambda: half * half,
        "gelu": lambda: F.gelu(x),
        "softmax": lambda: torch.softmax(x, -1),
        "layer_norm": lambda: F.layer_norm(x, (columns,)),
        "sum": lambda: x.sum(0),
        "linear": lambda: F.linear(x, weight),
        "bmm": lambda: torch.bmm(x[None], y.t()[None]),
        "cat": lambda: torch.cat((x, y)),
        "transpose copy": lambda: x.t().contiguous(),
        "embedding": lambda: F.embedding(labels, table),
        "where": lambda: torch.where(x > y, x, y),
        "sort": lambda: x.sort(-1),
        "cumsum": lambda: x.cumsum(-1),
    }


def compile_milliseconds() -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {}
    for index in range(SIGNATURES):
        for name, call in signatures(index).items():
            times = []
            for _ in range(2):
                start = time.perf_counter()
                call()
                torch.accelerator.synchronize()
                times.append(1e3 * (time.perf_counter() - start))
            samples.setdefault(name, []).append(max(0.0, times[0] - times[1]))
    return samples


def main() -> None:
    path = json_argument(__doc__)
    with torch.no_grad():
        samples = compile_milliseconds()
    rows = [Row(f"{name}, median", statistics.median(taken), "limit", 0.3, None) for name, taken in samples.items()]
    every = sorted(value for taken in samples.values() for value in taken)
    rows.append(Row("all, median", statistics.median(every), "limit", 0.3, 1.0))
    rows.append(Row("all, 99th percentile", every[int(0.99 * len(every))], "limit", 3.0, 1.0))
    finish("Compiling one new signature", rows, path)


if __name__ == "__main__":
    main()
