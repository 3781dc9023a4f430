"""Device against CPU: the same operator on the same values in the same memory layouts must give the same result."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

FLOATS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
COMPLEX = (torch.complex64, torch.complex128)
REAL = FLOATS + INTEGERS
ALL = (*REAL, torch.bool, *COMPLEX)

SHAPE = (4, 3, 5)
SPECIAL = (float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, -1.0)

# Room for one ulp on either side, and for the absolute error where the CPU's own formula cancels.
TOLERANCE = {
    torch.float64: (1e-14, 1e-14),
    torch.float32: (5e-7, 2e-7),
    torch.float16: (2e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.complex32: (2e-3, 1e-5),
    torch.complex64: (1e-6, 5e-7),
    torch.complex128: (1e-14, 1e-14),
}


@dataclass(frozen=True)
class Layout:
    """How a tensor lies in its memory: the shape of the memory, and the view taken of it."""

    name: str
    base: tuple[int, ...]
    view: Callable[[torch.Tensor], torch.Tensor]


def layouts(shape: tuple[int, ...] = SHAPE) -> list[Layout]:
    """Layouts of `shape` (at least two dimensions), and the 0-dimensional and empty tensors."""
    *outer, rows, columns = shape
    first, *rest = shape
    return [
        Layout("contiguous", shape, lambda t: t),
        Layout("transposed", (*outer, columns, rows), lambda t: t.transpose(-1, -2)),
        Layout("strided", (*outer, rows, 2 * columns), lambda t: t[..., ::2]),
        Layout("offset", (first + 2, *rest), lambda t: t[1:-1]),
        Layout("expanded", (1, *rest), lambda t: t.expand(shape)),
        Layout("scalar", (3,), lambda t: t[1]),
        Layout("empty", (0, *rest), lambda t: t),
    ]


def values(shape: tuple[int, ...], dtype: torch.dtype, kind: str = "special", seed: int = 0) -> torch.Tensor:
    """CPU values. `special` mixes in NaN, infinities and zeros, `finite` does not, `positive` and `unit` ((0, 1)) say
    what they are, `nonzero` suits divisors."""
    generator = torch.Generator().manual_seed(seed + 17 * math.prod(shape))
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    if not (dtype.is_floating_point or dtype.is_complex):
        low, high = (1, 5) if kind in ("positive", "nonzero", "unit") else (0 if dtype == torch.uint8 else -6, 7)
        return torch.randint(low, high, shape, generator=generator).to(dtype)
    wide = torch.complex128 if dtype.is_complex else torch.float64
    result = torch.randn(shape, generator=generator, dtype=wide) * 2
    if kind == "unit":
        result = torch.rand(shape, generator=generator, dtype=torch.float64).to(wide)
    if kind == "positive":
        result = result.abs().to(wide) + 0.125
    if kind == "nonzero":
        result = torch.where(result.abs() < 0.1, torch.ones_like(result), result)
    if kind == "special" and not dtype.is_complex:
        flat = result.view(-1)
        for position, value in zip(range(seed % 3, flat.numel(), 4), SPECIAL * 100, strict=False):
            flat[position] = value
    return result.to(dtype)


@dataclass
class Pair:
    """One tensor on both sides, with the memory it is a view of."""

    cpu: torch.Tensor
    device: torch.Tensor
    cpu_base: torch.Tensor
    device_base: torch.Tensor


def pair(layout: Layout, dtype: torch.dtype, kind: str = "special", seed: int = 0) -> Pair:
    base = values(layout.base, dtype, kind, seed)
    device_base = base.to("neuron")
    return Pair(layout.view(base), layout.view(device_base), base, device_base)


def to_device(argument):
    """Tensors moved to the device, strides kept; lists and tuples of them too; everything else as it is."""
    if isinstance(argument, torch.Tensor):
        if argument.dim() == 0 and getattr(argument, "stays_on_host", False):
            return argument
        memory = torch.empty_strided(argument.shape, argument.stride(), dtype=argument.dtype, device="neuron")
        return memory.copy_(argument)
    if isinstance(argument, (list, tuple)):
        return type(argument)(to_device(element) for element in argument)
    return argument


def outcome(call: Callable[[], object]) -> object:
    """The result, or the exception. Results of the device are brought to the CPU, so late errors appear here."""
    try:
        return call()
    except Exception as error:
        return error


def fetch(result):
    if isinstance(result, torch.Tensor):
        memory = torch.empty_strided(result.shape, result.stride(), dtype=result.dtype)
        return memory.copy_(result)
    if isinstance(result, (list, tuple)):
        return [fetch(element) for element in result]
    return result


def assert_same(actual, expected, message: str = "", tolerance: dict | None = None, strides: bool = True) -> None:
    """Type, shape, strides, values, NaNs and signs of zeros."""
    if isinstance(expected, Exception):
        assert isinstance(actual, type(expected)), f"{message}: CPU raised {expected!r}, device gave {actual!r}"
        return
    if isinstance(actual, Exception):
        raise AssertionError(f"{message}: device raised, CPU did not") from actual
    if isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected), message
        for one, other in zip(actual, expected, strict=True):
            assert_same(one, other, message, tolerance, strides)
        return
    if not isinstance(expected, torch.Tensor):
        assert actual == expected, message
        return
    assert actual.dtype == expected.dtype, f"{message}: dtype {actual.dtype}, expected {expected.dtype}"
    assert actual.shape == expected.shape, f"{message}: shape {tuple(actual.shape)}, expected {tuple(expected.shape)}"
    if strides:
        assert actual.stride() == expected.stride(), (
            f"{message}: strides {actual.stride()}, expected {expected.stride()}"
        )
    rtol, atol = {**TOLERANCE, **(tolerance or {})}.get(expected.dtype, (0, 0))
    torch.testing.assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=True, msg=lambda text: f"{message}: {text}"
    )


def check(
    call: Callable, *arguments, tolerance: dict | None = None, strides: bool = True, message: str = "", **keywords
):
    """Calls on CPU tensors and on their device copies (arguments that are Pairs or tensors) and compares."""
    host = [argument.cpu if isinstance(argument, Pair) else argument for argument in arguments]
    device = [argument.device if isinstance(argument, Pair) else to_device(argument) for argument in arguments]
    device_keywords = {name: to_device(value) for name, value in keywords.items()}
    expected = outcome(lambda: call(*host, **keywords))
    actual = outcome(lambda: fetch(call(*device, **device_keywords)))
    assert_same(actual, expected, message, tolerance, strides)


def check_in_place(call: Callable, *pairs: Pair, tolerance: dict | None = None, message: str = "") -> None:
    """`call` writes its first argument: that view and all the memory around it must agree afterwards."""
    expected = outcome(lambda: call(*[pair.cpu for pair in pairs]) is None)
    actual = outcome(lambda: call(*[pair.device for pair in pairs]) is None)
    assert_same(actual, expected, message, tolerance)
    assert_same(fetch(pairs[0].device_base), pairs[0].cpu_base, f"{message}, memory", tolerance)


def check_out(call: Callable, *pairs: Pair, tolerance: dict | None = None, message: str = "") -> None:
    """`out=` of the right shape in transposed memory, and of a wrong shape, which is resized."""
    result = outcome(lambda: call(*[pair.cpu for pair in pairs]))
    if not isinstance(result, torch.Tensor):
        return
    right = result.new_zeros(result.shape[::-1]).permute(list(range(result.dim()))[::-1])
    for name, out in (("out", right), ("resized out", result.new_zeros(0))):
        device_out = to_device(out)
        expected = call(*[pair.cpu for pair in pairs], out=out.clone() if name != "out" else out)
        actual = outcome(lambda device_out=device_out: fetch(call(*[pair.device for pair in pairs], out=device_out)))
        assert_same(actual, expected, f"{message}, {name}", tolerance)


def host_scalar(value, dtype: torch.dtype) -> torch.Tensor:
    """A 0-dimensional CPU tensor, which operators accept among device tensors."""
    tensor = torch.tensor(value, dtype=dtype)
    tensor.stays_on_host = True
    return tensor
