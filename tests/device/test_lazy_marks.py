"""Lazily conjugated and negated tensors, outputs that are inputs, and forward-mode derivatives, against the CPU."""

import pytest
import torch

MATRIX = torch.randn(3, 3, dtype=torch.complex64, generator=torch.Generator().manual_seed(0))
VECTOR = torch.randn(3, dtype=torch.complex64, generator=torch.Generator().manual_seed(1))

READS = {
    "mm": lambda m, v: m.conj() @ m,
    "mm_adjoint": lambda m, v: m @ m.mH,
    "mv": lambda m, v: m.mH @ v.conj(),
    "dot": lambda m, v: torch.dot(v.conj(), v),
    "vdot": lambda m, v: torch.vdot(v, v.conj()),
    "addmm": lambda m, v: torch.addmm(m.conj(), m.mH, m, beta=2),
    "baddbmm": lambda m, v: torch.baddbmm(m[None].conj(), m[None], m[None].mH),
    "linear": lambda m, v: torch.nn.functional.linear(m.conj(), m, v.conj()),
    "einsum": lambda m, v: torch.einsum("ij,jk->ik", m.conj(), m),
    "conj_physical": lambda m, v: torch.conj_physical(m.conj()),
    "negative": lambda m, v: m.conj().imag @ m.real,
}


@pytest.mark.parametrize("name", READS)
def test_marks_are_carried_out_before_reading(name):
    result = READS[name](MATRIX.to("neuron"), VECTOR.to("neuron"))
    torch.testing.assert_close(result.cpu(), READS[name](MATRIX, VECTOR))


def write_addmm(m):
    m.conj().addmm_(MATRIX.to(m.device), m.clone())


def write_out(m):
    torch.mm(m.clone(), m.clone(), out=m.conj())


def write_conj_physical(m):
    m.conj().conj_physical_()


def write_bytes(m):
    m.conj().imag.copy_(torch.arange(9, dtype=torch.uint8, device=m.device).view(3, 3))


def write_bools(m):
    m.conj().imag.copy_(torch.eye(3, dtype=torch.bool, device=m.device))


def write_bytes_of_the_cpu(m):
    m.conj().imag.copy_(torch.arange(9, dtype=torch.uint8).view(3, 3))


@pytest.mark.parametrize(
    "write", [write_addmm, write_out, write_conj_physical, write_bytes, write_bools, write_bytes_of_the_cpu]
)
def test_writes_go_through_the_marks(write):
    expected, result = MATRIX.clone(), MATRIX.to("neuron")
    write(expected)
    write(result)
    torch.testing.assert_close(result.cpu(), expected)


def test_gradient_of_a_complex_product():
    def gradient(matrix):
        matrix = matrix.clone().requires_grad_()
        return torch.autograd.grad((matrix @ matrix.conj()).abs().sum(), matrix)[0]

    torch.testing.assert_close(gradient(MATRIX.to("neuron")).cpu(), gradient(MATRIX))


def test_an_output_that_is_an_input_keeps_its_shape():
    x = torch.ones(1, device="neuron")
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        torch.add(x, torch.ones(3, device="neuron"), out=x)
    assert x.tolist() == [1.0]


@pytest.mark.parametrize(
    "write",
    [
        lambda host, x: host.add_(x),
        lambda host, x: torch.add(x, x, out=host),
        lambda host, x: torch.sum(x, (), out=host),
    ],
)
def test_a_cpu_scalar_is_never_written(write):
    host = torch.tensor(1.0)
    with pytest.raises(RuntimeError, match="same device"):
        write(host, torch.tensor(2.0, device="neuron"))
    assert host.item() == 1.0


def test_forward_mode_derivatives():
    def derivative(matrix):
        return torch.func.jvp(lambda x: torch.nn.functional.gelu(x @ matrix).softmax(-1), (matrix,), (matrix,))

    matrix = MATRIX.real.clone()
    for result, expected in zip(derivative(matrix.to("neuron")), derivative(matrix), strict=True):
        torch.testing.assert_close(result.cpu(), expected)


def test_results_the_device_cannot_hold_are_refused():
    x = torch.ones(4, device="neuron")
    with torch.neuron.fallback("silent"), pytest.raises(TypeError, match="QInt8"):
        torch.quantize_per_tensor(x, 1.0, 0, torch.qint8)


@pytest.mark.parametrize("device", [1, 70])
def test_statistics_of_a_device_that_does_not_exist(device):
    with pytest.raises(RuntimeError, match="no such device"):
        torch.accelerator.memory_allocated(device)
    with pytest.raises(RuntimeError, match="no such device"):
        torch.accelerator.reset_peak_memory_stats(device)
