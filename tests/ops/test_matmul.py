"""Matrix products and triangular systems."""

import pytest
import torch
from differential import COMPLEX, FLOATS, INTEGERS, check, check_in_place, check_out, layouts, pair, values

NUMBERS = FLOATS + INTEGERS + COMPLEX
# A sum of products loses more than one rounding; CPU and device add in different orders.
TOLERANCE = {
    torch.float64: (1e-12, 1e-12),
    torch.float32: (1e-5, 1e-5),
    torch.float16: (5e-3, 5e-2),
    torch.bfloat16: (2e-2, 2e-1),
    torch.complex64: (1e-5, 1e-5),
    torch.complex128: (1e-12, 1e-12),
}

LEFT = layouts((4, 5))[:5]
RIGHT = layouts((5, 3))[:5]


def same(call, *arguments, **keywords):
    check(call, *arguments, tolerance=TOLERANCE, **keywords)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("left", LEFT, ids=lambda layout: layout.name)
@pytest.mark.parametrize("right", RIGHT, ids=lambda layout: layout.name)
def test_mm(left, right, dtype):
    a, b = pair(left, dtype, "finite"), pair(right, dtype, "finite", seed=1)
    same(torch.mm, a, b)
    same(torch.addmm, values((3,), dtype, "finite"), a, b)
    same(lambda c, a, b: torch.addmm(c, a, b, alpha=2, beta=3), values((4, 1), dtype, "finite"), a, b)
    check_out(torch.mm, a, b, tolerance=TOLERANCE)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_batches_and_vectors(dtype):
    a, b = values((2, 3, 4), dtype, "finite"), values((2, 4, 5), dtype, "finite", 1)
    same(torch.bmm, a, b)
    same(torch.bmm, a.transpose(1, 2).contiguous().transpose(1, 2), b.transpose(0, 1).contiguous().transpose(0, 1))
    same(lambda c, a, b: torch.baddbmm(c, a, b, alpha=2, beta=3), values((3, 5), dtype, "finite", 2), a, b)
    same(torch.addbmm, values((5,), dtype, "finite", 2), a, b)
    same(torch.mv, a[0], b[0, :, 0])
    same(torch.addmv, values((3,), dtype, "finite", 2), a[0], b[0, :, 0])
    same(torch.dot, a[0, 0], b[0, :, 0])
    same(torch.vdot, a[0, 0], b[0, :, 0])
    same(torch.addr, values((4, 5), dtype, "finite", 2), b[0, :, 0], b[0, 0])
    same(torch.matmul, a, b[0])
    same(torch.nn.functional.linear, a, values((6, 4), dtype, "finite", 3), values((6,), dtype, "finite", 4))


@pytest.mark.parametrize("dtype", FLOATS)
def test_in_place(dtype):
    for layout in layouts((4, 3))[:4]:
        self, a, b = (pair(place, dtype, "finite", seed) for seed, place in enumerate((layout, LEFT[0], RIGHT[1])))
        check_in_place(lambda c, a, b: c.addmm_(a, b, beta=0.5), self, a, b, tolerance=TOLERANCE, message=layout.name)


def test_zero_coefficients_drop_their_term():
    nan = torch.full((2, 2), float("nan"))
    one = torch.ones(2, 2)
    same(lambda c, a, b: torch.addmm(c, a, b, beta=0), nan, one, one)
    same(lambda c, a, b: torch.addmm(c, a, b, alpha=0), one, nan, one)
    same(lambda c, a, b: torch.addmm(c, a, b, alpha=0, beta=0), nan, nan, nan)


def test_empty():
    for shapes in (((0, 9), (9,)), ((2, 0), (0, 3)), ((0, 2), (2, 3)), ((3, 0, 0), (0, 0)), ((2, 0, 3), (2, 3, 4))):
        same(torch.matmul, *[torch.ones(shape) for shape in shapes])
    same(torch.addmm, torch.ones(3), torch.ones(2, 0), torch.ones(0, 3), beta=2)


def test_weights_as_expanded_and_sliced_views():
    weight = torch.arange(24.0).view(6, 4)[::2]
    same(torch.nn.functional.linear, torch.ones(1, 4), weight)
    base = torch.arange(12.0)
    same(
        lambda base: torch.nn.functional.linear(base.as_strided((2, 3, 4), (0, 4, 1)), torch.ones_like(base[:4])[None]),
        base,
    )


def test_accuracy_of_float32():
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(256, 256, generator=generator) for _ in range(2))
    exact = a.double() @ b.double()
    actual = (a.to("neuron") @ b.to("neuron")).cpu().double()
    assert ((actual - exact).abs().max() / exact.abs().max()) < 1e-6


A, B = torch.ones(2, 3), torch.ones(3, 4)


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (torch.mm, (A, A)),
        (torch.mm, (A, A[0])),
        (torch.mm, (A, B.double())),
        (torch.mm, (A.bool(), B.bool())),
        (torch.bmm, (A[None], A[None])),
        (torch.bmm, (A, B)),
        (torch.addmm, (torch.ones(3), A, B)),
        (torch.addmm, (torch.ones(4).double(), A, B)),
        (torch.mv, (A, torch.ones(2))),
        (torch.mv, (A, A)),
        (torch.dot, (A[0], B[0])),
        (torch.dot, (A, A)),
        (torch.addr, (A, torch.ones(3), torch.ones(3))),
        (torch.baddbmm, (torch.ones(5), A[None], B[None])),
    ],
)
def test_errors(call, arguments):
    check(call, *arguments)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64])
@pytest.mark.parametrize("size", [1, 2, 7, 33])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_solve_triangular(size, upper, unit, dtype):
    tolerance = {torch.float32: (1e-4, 1e-4), torch.complex64: (1e-4, 1e-4), torch.float64: (1e-11, 1e-11)}
    matrix = torch.eye(size, dtype=dtype) * 3 + values((2, size, size), dtype, "finite") / (4 * size)
    right = values((size, 3), dtype, "finite", 1)
    solve = torch.linalg.solve_triangular
    check(lambda a, b: solve(a, b, upper=upper, unitriangular=unit), matrix, right, tolerance=tolerance)
    check(lambda a, b: solve(a.mT, b, upper=upper, unitriangular=unit), matrix, right, tolerance=tolerance)
    check(lambda a, b: solve(a, b.mT, upper=upper, left=False, unitriangular=unit), matrix, right, tolerance=tolerance)


def test_solve_triangular_errors():
    check(lambda a, b: torch.linalg.solve_triangular(a, b, upper=True), A, A)
    check(lambda a, b: torch.linalg.solve_triangular(a, b, upper=True), torch.eye(2), torch.ones(3, 3))
    check(lambda a, b: torch.linalg.solve_triangular(a, b, upper=True), torch.eye(0), torch.ones(0, 2))
