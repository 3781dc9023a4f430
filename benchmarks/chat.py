"""Tokens per second of SmolLM2-135M-Instruct in float32, decoding one sequence: torch on the CPU against neuron."""

import argparse
import copy
import importlib.util
import json
import statistics
import sys
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

import opentrn  # noqa: F401  registers the device even where autoload is off

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PROMPT = "Write a short story about a lighthouse keeper and a whale."


def load_example():
    """examples/chat.py as a module; this file has the same name."""
    sys.path.insert(0, str(EXAMPLES))
    spec = importlib.util.spec_from_file_location("example_chat", EXAMPLES / "chat.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measure(tokens: int, repeats: int) -> dict[str, list[float]]:
    """Tokens per second of each repeat. The devices take turns."""
    example = load_example()
    tokenizer, cpu = example.load_chat(torch.float32)
    models = {"cpu": cpu, "neuron": copy.deepcopy(cpu).to("neuron")}
    for model in models.values():
        example.answer(tokenizer, model, PROMPT, 4)
    speeds = {device: [] for device in models}
    for _ in range(repeats):
        for device, model in models.items():
            speeds[device].append(example.answer(tokenizer, model, PROMPT, tokens)["tokens_per_second"])
    return speeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", metavar="FILE", help="write the speeds to FILE")
    arguments = parser.parse_args()
    speeds = measure(arguments.tokens, arguments.repeats)
    medians = {device: statistics.median(values) for device, values in speeds.items()}
    table = Table(title=f"Decoding, median of {arguments.repeats} answers of at most {arguments.tokens} tokens")
    for title in ("device", "tokens/s", "of the CPU's speed"):
        table.add_column(title, justify="right")
    for device, speed in medians.items():
        table.add_row(device, f"{speed:.1f}", f"{speed / medians['cpu']:.2f}")
    Console().print(table)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(speeds, file, indent=1)


if __name__ == "__main__":
    main()
