"""Whole models against torch eager on the CPU: SmolLM2-135M, and a training step of examples/train.py."""

import contextlib
import copy
import io
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from harness import Row, finish, json_argument, row

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
sys.path.insert(0, str(EXAMPLES))
PROMPT_TOKENS, DECODED = 256, 16


def prefill(model, device: str):
    tokens = torch.randint(1000, 20000, (1, PROMPT_TOKENS), generator=torch.Generator().manual_seed(0)).to(device)
    return lambda: model(tokens, use_cache=False, logits_to_keep=1).logits.cpu()


def decode(model, device: str):
    """Sixteen tokens behind a prompt of eight, prompt included: its share is small."""
    tokens = torch.arange(1000, 1008).unsqueeze(0).to(device)
    mask = torch.ones_like(tokens)
    return lambda: model.generate(
        tokens, attention_mask=mask, max_new_tokens=DECODED, min_new_tokens=DECODED, do_sample=False, pad_token_id=0
    )


def training_step(device: str):
    from train import Shape, SmallGPT

    torch.manual_seed(0)
    shape = Shape()
    model = SmallGPT(shape).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    tokens = torch.randint(shape.vocabulary, (8, shape.context + 1)).to(device)

    def step() -> float:
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def language_model_rows(dtype: torch.dtype, asked: tuple[float, float]) -> list[Row]:
    from _weights import load_chat

    with contextlib.redirect_stderr(io.StringIO()):
        _, cpu = load_chat(dtype)
    neuron = copy.deepcopy(cpu).to("neuron")
    label = str(dtype).removeprefix("torch.")
    with torch.no_grad():
        return [
            row(
                f"SmolLM2-135M {name}, {label}",
                {"torch CPU": work(cpu, "cpu"), "neuron": work(neuron, "neuron")},
                at_least,
                repeats=5,
            )
            for name, work, at_least in (
                (f"decode of {DECODED} tokens", decode, asked[0]),
                (f"prefill of {PROMPT_TOKENS} tokens", prefill, asked[1]),
            )
        ]


def main() -> None:
    path = json_argument(__doc__)
    rows = language_model_rows(torch.float32, (1.8, 1.5)) + language_model_rows(torch.bfloat16, (1.5, 1.0))
    steps = {"torch CPU": training_step("cpu"), "neuron": training_step("neuron")}
    rows.append(row("training step of examples/train.py", steps, 1.0))
    finish("Whole models", rows, path)


if __name__ == "__main__":
    main()
