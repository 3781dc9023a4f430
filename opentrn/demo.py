"""`opentrn demo`: one prompt on neuron and on the CPU, and whether the answers agree."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

PROMPT = "Write a short story about a lighthouse keeper and a whale."


def run(prompt: str, max_new_tokens: int) -> int:
    """Runs both, compares tokens and speeds, and returns the exit status: 0 only when the tokens are equal."""
    script = find_example("chat.py")
    console = Console(highlight=False)
    with tempfile.TemporaryDirectory(prefix="opentrn-demo-") as folder:
        results = {}
        for device in ("neuron", "cpu"):
            console.print(Rule(Text(f"chat.py on {device}: {prompt}"), style="bold"))
            output = Path(folder) / f"{device}.json"
            command = command_for(device, script, prompt, max_new_tokens, output)
            status = subprocess.run(command, check=False).returncode
            if status != 0:
                console.print(Text(f"[demo] the run on {device} failed, got exit status {status}"))
                return status
            results[device] = json.loads(output.read_text())
    equal, lines = compare(results["neuron"], results["cpu"])
    console.print(Rule(Text("neuron and CPU compared"), style="bold"))
    for line in lines:
        console.print(Text(line))
    return 0 if equal else 1


def command_for(device: str, script: Path, prompt: str, max_new_tokens: int, output: Path) -> list[str]:
    """The command line of one run; on neuron through `opentrn run`, so that its summary follows."""
    launcher = ["-m", "opentrn.cli", "run"] if device == "neuron" else []
    options = ["--device", device, "--prompt", prompt, "--max-new-tokens", str(max_new_tokens), "--json", str(output)]
    return [sys.executable, *launcher, str(script), *options]


def compare(neuron: dict, cpu: dict) -> tuple[bool, list[str]]:
    """Whether the tokens are equal, and the sentences that say so."""
    speeds = {"neuron": neuron["tokens_per_second"], "cpu": cpu["tokens_per_second"]}
    lines = [f"Tokens: {agreement(neuron['tokens'], cpu['tokens'])}"]
    lines.append(f"Speed:  neuron {speeds['neuron']:.1f} tokens/s, CPU {speeds['cpu']:.1f} tokens/s")
    if speeds["cpu"] > 0:
        lines[-1] += f": neuron runs at {speeds['neuron'] / speeds['cpu']:.2f} times the CPU's speed"
    return neuron["tokens"] == cpu["tokens"], lines


def agreement(left: list[int], right: list[int]) -> str:
    """'all 64 are equal', or where the first difference is."""
    if left == right:
        return f"all {len(left)} are equal"
    pairs = zip(left, right, strict=False)
    first = next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
    return f"DIFFERENT from token {first + 1} on (neuron gave {len(left)}, the CPU {len(right)})"


def find_example(name: str) -> Path:
    """An example script: of the working directory, else of the source tree this package lies in."""
    folders = (Path("examples"), Path(__file__).resolve().parent.parent / "examples")
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    raise SystemExit(
        f"[demo] the example is missing, expected {folders[0].absolute() / name}, do: run it in a clone of OpenTrn"
    )
