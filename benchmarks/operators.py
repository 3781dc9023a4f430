"""Operators at the sizes of models, against torch on the CPU with the same threads."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from harness import Row, finish, json_argument, row

TOKENS, WIDTH, HIDDEN, VOCABULARY, HEADS, HEAD = 256, 576, 1536, 49152, 9, 64


def rotary(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return x * cosine + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sine


def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """As transformers spells it."""
    wide = x.to(torch.float32)
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
    return weight * wide.to(x.dtype)


def adamw(device: str) -> Callable[[], object]:
    parameters = [torch.nn.Parameter(torch.randn(shape, device="cpu").to(device)) for shape in [(WIDTH, HIDDEN)] * 8]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    return torch.optim.AdamW(parameters, lr=1e-3).step


def calls(device: str, dtype: torch.dtype) -> dict[str, Callable[[], object]]:
    def tensor(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype).to(device)

    scores, x, wide = tensor(HEADS, TOKENS, TOKENS), tensor(TOKENS, WIDTH), tensor(TOKENS, HIDDEN)
    weight, bias, table = tensor(WIDTH), tensor(WIDTH), tensor(VOCABULARY, WIDTH)
    queries, cosine, sine = tensor(1, HEADS, TOKENS, HEAD), tensor(1, 1, TOKENS, HEAD), tensor(1, 1, TOKENS, HEAD)
    logits = tensor(64, VOCABULARY)
    labels = torch.randint(VOCABULARY, (TOKENS,), generator=torch.Generator().manual_seed(0)).to(device)
    targets = labels[:64]
    return {
        "softmax": lambda: torch.softmax(scores, -1),
        "layer norm": lambda: F.layer_norm(x, (WIDTH,), weight, bias),
        "RMS norm": lambda: rms_norm(x, weight),
        "GELU": lambda: F.gelu(wide),
        "SiLU": lambda: F.silu(wide),
        "rotary embedding": lambda: rotary(queries, cosine, sine),
        "cross-entropy": lambda: F.cross_entropy(logits, targets),
        "embedding": lambda: F.embedding(labels, table),
        "transpose-copy": lambda: queries.transpose(1, 2).contiguous(),
        "matrix transpose-copy": lambda: wide.t().contiguous(),
        "add": lambda: wide + wide,
        "sum": lambda: wide.sum(-1),
    }


def main() -> None:
    path = json_argument(__doc__)
    rows: list[Row] = []
    with torch.no_grad():
        for dtype in (torch.float32, torch.bfloat16):
            cpu, neuron = calls("cpu", dtype), calls("neuron", dtype)
            for name in cpu:
                label = f"{name}, {str(dtype).removeprefix('torch.')}"
                rows.append(row(label, {"torch CPU": cpu[name], "neuron": neuron[name]}, 1.0))
    rows.append(row("AdamW step, float32", {"torch CPU": adamw("cpu"), "neuron": adamw("neuron")}, 1.0))
    finish("Operators at the sizes of models", rows, path)


if __name__ == "__main__":
    main()
