"""Matrix products against the better of torch on the CPU and XLA's CPU compiler (where jax is installed)."""

import torch
import torch.nn.functional as F
from harness import Row, finish, json_argument, row

SHAPES = ((1024, 1024, 1024), (1024, 1024, 4096))


def xla(x: torch.Tensor, weight: torch.Tensor):
    """x @ weight^T by XLA, or nothing without jax."""
    try:
        import jax
    except ImportError:
        return None
    jax.config.update("jax_platforms", "cpu")
    name = str(x.dtype).removeprefix("torch.")
    left, right = (jax.numpy.asarray(value.float().numpy()).astype(name) for value in (x, weight))
    product = jax.jit(lambda a, b: a @ b.T)
    return lambda: product(left, right).block_until_ready()


def main() -> None:
    path = json_argument(__doc__)
    rows: list[Row] = []
    with torch.no_grad():
        for dtype in (torch.float32, torch.bfloat16):
            for m, k, n in SHAPES:
                x, weight = torch.randn(m, k).to(dtype), torch.randn(n, k).to(dtype)
                x_device, weight_device = x.to("neuron"), weight.to("neuron")
                ways = {
                    "torch CPU": lambda x=x, weight=weight: F.linear(x, weight),
                    "neuron": lambda x=x_device, weight=weight_device: F.linear(x, weight),
                }
                other = xla(x, weight)
                if other:
                    ways["XLA CPU"] = other
                rows.append(row(f"linear {m}x{k}x{n}, {str(dtype).removeprefix('torch.')}", ways, 0.8))
    finish("Matrix products", rows, path)


if __name__ == "__main__":
    main()
