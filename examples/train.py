"""Trains a small GPT on this project's documentation: plain torch, the device is only a name."""

import argparse
import dataclasses
import json
import time
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from _progress import bar

ROOT = Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Shape:
    """The size of the model. The vocabulary is the byte."""

    layers: int = 2
    heads: int = 4
    width: int = 128
    context: int = 64
    vocabulary: int = 256
    dropout: float = 0.0


class Block(nn.Module):
    """One transformer layer: causal attention, then a feed-forward network, each added to its input."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.heads = shape.heads
        self.dropout = shape.dropout
        self.attention_norm = nn.LayerNorm(shape.width)
        self.query_key_value = nn.Linear(shape.width, 3 * shape.width)
        self.projection = nn.Linear(shape.width, shape.width)
        self.feed_forward = nn.Sequential(
            nn.LayerNorm(shape.width),
            nn.Linear(shape.width, 4 * shape.width),
            nn.GELU(),
            nn.Linear(4 * shape.width, shape.width),
            nn.Dropout(shape.dropout),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.attention_norm(x))
        return x + self.feed_forward(x)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        split = self.query_key_value(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
        dropout = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True, dropout_p=dropout)
        return self.projection(mixed.transpose(1, 2).reshape(batch, length, width))


class SmallGPT(nn.Module):
    """Predicts the next byte."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.tokens = nn.Embedding(shape.vocabulary, shape.width)
        self.positions = nn.Embedding(shape.context, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = nn.LayerNorm(shape.width)
        self.head = nn.Linear(shape.width, shape.vocabulary, bias=False)
        self.apply(initialise)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.tokens(tokens) + self.positions(positions)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear | nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


def read_text(folder: Path) -> torch.Tensor:
    """The bytes of every Markdown file below `folder`, hidden and build folders left out."""
    files = sorted(path for path in folder.rglob("*.md") if not skipped(path.relative_to(folder)))
    text = b"\n".join(path.read_bytes() for path in files)
    if len(text) < 1000:
        raise SystemExit(
            f"[train] there is too little text, got {len(text)} bytes of Markdown in {folder}, "
            "expected at least 1000, do: pass --data FOLDER"
        )
    return torch.tensor(list(text), dtype=torch.int64)


def skipped(path: Path) -> bool:
    return any(part.startswith(".") or part == "build" for part in path.parts)


def batches(text: torch.Tensor, context: int, size: int, seed: int):
    """Random windows of the text and the same windows one byte later. Drawn on the CPU: the same on every device."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        starts = torch.randint(len(text) - context, (size,), generator=generator).tolist()
        windows = torch.stack([text[start : start + context + 1] for start in starts])
        yield windows[:, :-1], windows[:, 1:]


def train(
    text: torch.Tensor, device: str, steps: int = 50, batch: int = 8, seed: int = 0, shape: Shape | None = None
) -> list[float]:
    """The loss of every step. Seed and data alone decide where it starts."""
    shape = shape or Shape()
    torch.manual_seed(seed)
    model = SmallGPT(shape).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    losses = []
    progress = bar(range(steps), f"Training on {device}")
    for _, (inputs, targets) in zip(progress, batches(text, shape.context, batch, seed), strict=False):
        logits = model(inputs.to(device))
        loss = F.cross_entropy(logits.flatten(0, 1), targets.to(device).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        progress.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
    return losses


def main() -> None:
    arguments = parse_arguments()
    text = read_text(arguments.data)
    start = time.perf_counter()
    shape = Shape(dropout=arguments.dropout)
    losses = train(text, arguments.device, arguments.steps, arguments.batch, arguments.seed, shape)
    seconds = time.perf_counter() - start
    print(f"{len(text)} bytes of text, {len(losses)} steps, {seconds:.1f} s: loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"device": arguments.device, "seed": arguments.seed, "losses": losses, "seconds": seconds}, file)


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"got {value}, expected at least 1")
    return value


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu", help="for example neuron or cpu (default: %(default)s)")
    parser.add_argument("--steps", type=positive, default=50)
    parser.add_argument("--batch", type=positive, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--data", type=Path, default=ROOT, metavar="FOLDER", help="where to look for *.md files")
    parser.add_argument("--json", metavar="FILE", help="write the loss curve to FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
