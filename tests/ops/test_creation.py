"""Tensors from numbers."""

import pytest
import torch
from differential import assert_same, fetch, outcome

DTYPES = (
    None,
    torch.float32,
    torch.int64,
    torch.int32,
    torch.float64,
    torch.float16,
    torch.bfloat16,
    torch.uint8,
    torch.complex64,
)
# CPU PyTorch's vectorised loops round the start of each vector; ours round the exact number once.
TOLERANCE = {
    torch.float32: (1e-6, 1e-7),
    torch.float16: (1e-3, 1e-3),
    torch.bfloat16: (1e-2, 1e-2),
    torch.complex64: (1e-6, 1e-7),
}


def same(call):
    expected = outcome(lambda: call("cpu"))
    actual = outcome(lambda: fetch(call("neuron")))
    assert_same(actual, expected, tolerance=TOLERANCE)


RANGES = [
    (0, 5, 1),
    (5, 0, -2),
    (0.5, 5.5, 1),
    (0.0, 1.0, 0.1),
    (1, 0, -0.3),
    (0, 0, 1),
    (-5, 5, 4),
    (0.7, 5.2, 1.5),
    (0, 5, 0),
    (0, 5, -1),
    (0, float("inf"), 1),
    (0, float("nan"), 1),
]


@pytest.mark.parametrize("ends", RANGES, ids=str)
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != torch.complex64], ids=str)
def test_arange(ends, dtype):
    same(lambda device: torch.arange(*ends, dtype=dtype, device=device))


def test_arange_takes_no_bools_or_complex_numbers():
    for dtype in (torch.bool, torch.complex64):
        same(lambda device, dtype=dtype: torch.arange(0, 5, dtype=dtype, device=device))


def test_arange_beyond_float():
    same(lambda device: torch.arange(2**40, 2**40 + 5, device=device))
    same(lambda device: torch.arange(2**53 + 1, 2**53 + 4, device=device))
    same(lambda device: torch.arange(2**31, 2**31 + 4, device=device))
    same(lambda device: torch.arange(0, 5, out=torch.empty(0, device=device)))


@pytest.mark.parametrize(
    "ends", [(0, 1, 5), (3, 7, 1), (0, 10, 4), (-1, 1, 100), (5, -5, 7), (0, 1, 0), (0.1, 0.7, 33)], ids=str
)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_linspace(ends, dtype):
    same(lambda device: torch.linspace(*ends, dtype=dtype, device=device))


def test_linspace_edges():
    same(lambda device: torch.linspace(2**40, 2**40 + 8, 3, dtype=torch.int64, device=device))
    same(lambda device: torch.linspace(0, 1j, 3, device=device))
    same(lambda device: torch.linspace(0, 1, -1, device=device))
    same(lambda device: torch.linspace(0, 300, 3, dtype=torch.int8, device=device))


@pytest.mark.parametrize("dtype", (None, torch.bool, torch.int64, torch.complex64, torch.bfloat16), ids=str)
def test_eye(dtype):
    for sizes in ((3,), (3, 5), (5, 3), (0, 4), (-1,)):
        same(lambda device, sizes=sizes: torch.eye(*sizes, dtype=dtype, device=device))


@pytest.mark.parametrize("name", ["tril_indices", "triu_indices"])
def test_triangle_indices(name):
    call = getattr(torch.ops.aten, name).out
    for arguments in ((3, 4, 0), (4, 3, -1), (3, 3, 2), (0, 3, 0), (3, 3, -5), (3, 3, 5)):
        for dtype in (torch.int64, torch.int32):
            expected = call(*arguments, out=torch.empty(0, dtype=dtype))
            actual = call(*arguments, out=torch.empty(0, dtype=dtype, device="neuron"))
            assert_same(fetch(actual), expected)


def test_filled():
    for dtype in (torch.float32, torch.int8, torch.bool, torch.complex64, torch.float8_e4m3fn):
        for call in (torch.zeros, torch.ones):
            expected, actual = call(2, 3, dtype=dtype), call(2, 3, dtype=dtype, device="neuron").cpu()
            assert actual.dtype == dtype
            assert torch.equal(actual.view(torch.uint8), expected.view(torch.uint8))
    same(lambda device: torch.full((2,), 2**31 - 1, dtype=torch.int32, device=device))
    same(lambda device: torch.full((2,), 2**62 + 1, device=device))
    same(lambda device: torch.full((2,), True, device=device))
    same(lambda device: torch.full((2,), 1.5 + 2j, device=device))
    same(lambda device: torch.scalar_tensor(3, device=device))


@pytest.mark.parametrize("steps", [0, 1, 2, 7, 8, -1])
@pytest.mark.parametrize("base", [10, 2, 0.5], ids=str)
def test_logspace(base, steps):
    loose = {torch.float32: (2e-6, 1e-6), torch.float16: (2e-3, 1e-4), torch.complex64: (2e-6, 1e-6)}
    loose |= {torch.float64: (1e-13, 1e-13), torch.bfloat16: (1.6e-2, 1e-3), torch.complex128: (1e-13, 1e-13)}
    for dtype in (*DTYPES, torch.complex128, torch.int8, torch.bool):
        for ends in ((0, 2), (0.0, 2.0), (1, 0)):

            def call(device, ends=ends, dtype=dtype):
                return torch.logspace(*ends, steps, base, dtype=dtype, device=device)

            expected, actual = outcome(lambda c=call: c("cpu")), outcome(lambda c=call: fetch(c("neuron")))
            assert_same(actual, expected, f"{ends} {dtype}", loose)
