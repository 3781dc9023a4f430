"""Runs every benchmark and writes docs/benchmarks.md."""

import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from opentrn import _extension

FOLDER = Path(__file__).resolve().parent
SUBJECTS = ("models", "matmul", "operators", "dispatch", "compile_time")


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.machine()


def run(subject: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.json"
        subprocess.run([sys.executable, FOLDER / f"{subject}.py", "--json", path], check=True)
        return json.loads(path.read_text())


def markdown(result: dict) -> list[str]:
    lines = [f"## {result['title']}", "", "| work | neuron, ms | compared with | its ms | speed | asked |"]
    lines.append("|---|---:|---|---:|---:|---:|")
    for row in result["rows"]:
        speed = row["baseline_milliseconds"] / row["milliseconds"] if row["milliseconds"] else float("inf")
        asked = "" if row["at_least"] is None else f"{row['at_least']:.1f}x"
        lines.append(
            f"| {row['work']} | {row['milliseconds']:.3g} | {row['baseline']} "
            f"| {row['baseline_milliseconds']:.3g} | {speed:.2f}x | {asked} |"
        )
    return [*lines, ""]


def document(results: list[dict]) -> str:
    threads = torch.get_num_threads()
    native = _extension.native
    lines = [
        "# Benchmarks",
        "",
        "Written by `make bench`. Each line compares two ways that took turns in one run with the same threads; the",
        "speed is the other's median time divided by that of `neuron` (higher is better). Times by themselves say",
        "little: they depend on the machine.",
        "",
        f"- Machine: {processor()}, {os.cpu_count()} cores, {threads} threads",
        f"- Instruction sets: {', '.join(native.cpu_features())}",
        f"- torch {torch.__version__}, Python {platform.python_version()}",
        f"- engine `{native.engine_name()}`, target `{native.target_name()}`",
        f"- Date: {datetime.date.today().isoformat()}",
        "",
    ]
    for result in results:
        lines += markdown(result)
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    results = [run(subject) for subject in SUBJECTS]
    (FOLDER.parent / "docs" / "benchmarks.md").write_text(document(results))


if __name__ == "__main__":
    main()
