"""copy_ between host and device and within the device: every pair of dtypes, any strides."""

import itertools

import pytest
import torch

_C = pytest.importorskip("opentrn._C")
pytestmark = pytest.mark.usefixtures("strict")

DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32,
    torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn,
    torch.float8_e5m2, torch.complex64, torch.complex128,
]  # fmt: skip
VALUES = [0.0, -0.0, 1.0, 2.5, 3.49, 100.0, 127.0, 0.1]
SIGNED = [-1.0, -2.5, -100.0]
SPECIAL = [float("nan"), float("inf"), float("-inf"), 1e30, 65519.0, 65520.0, 448.0, 464.0, 500.0, 1e-30]


def is_unsigned(dtype):
    return dtype in (torch.bool, torch.uint8, torch.uint16, torch.uint32, torch.uint64)


def is_wide(dtype):
    return dtype.is_floating_point or dtype.is_complex


def sample(source, target):
    """Values whose conversion is defined on the CPU."""
    values = list(VALUES)
    if not is_unsigned(source) and not is_unsigned(target):
        values += SIGNED
    if is_wide(source) and is_wide(target):
        values += SPECIAL
    return torch.tensor(values, dtype=torch.float64).to(source)


def same(actual, expected):
    if expected.dtype.is_complex or (expected.dtype.itemsize == 1 and expected.dtype.is_floating_point):
        wide = torch.complex128 if expected.dtype.is_complex else torch.float64
        actual, expected = actual.to(wide), expected.to(wide)
    if expected.dtype in (torch.uint16, torch.uint32, torch.uint64):
        actual, expected = actual.to(torch.int64), expected.to(torch.int64)
    return torch.equal(torch.nan_to_num(actual, nan=12345.0), torch.nan_to_num(expected, nan=12345.0)) and torch.equal(
        actual != actual, expected != expected
    )


@pytest.mark.parametrize(("source", "target"), list(itertools.product(DTYPES, DTYPES)))
@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_conversion_equals_the_cpu(source, target):
    values = sample(source, target)
    expected = torch.empty(values.shape, dtype=target).copy_(values)
    uploaded = torch.empty(values.shape, dtype=target, device="neuron").copy_(values)
    assert same(uploaded.cpu(), expected), "host to device"
    on_device = values.to("neuron")
    assert same(on_device.to(target).cpu(), expected), "within the device"
    downloaded = torch.empty(values.shape, dtype=target).copy_(on_device)
    assert same(downloaded, expected), "device to host"


LAYOUTS = {
    "contiguous": lambda: torch.arange(24.0).view(2, 3, 4),
    "transposed": lambda: torch.arange(24.0).view(4, 3, 2).permute(2, 1, 0),
    "strided": lambda: torch.arange(192.0).view(4, 6, 8)[::2, ::2, ::2],
    "offset": lambda: torch.arange(60.0).view(3, 4, 5)[1:, 1:, 1:],
    "expanded": lambda: torch.arange(4.0).expand(2, 3, 4),
}


@pytest.mark.parametrize(
    ("source", "target"), list(itertools.product(LAYOUTS, [k for k in LAYOUTS if k != "expanded"]))
)
def test_any_strides(source, target):
    values = LAYOUTS[source]()
    device_values = torch.empty_strided((200,), (1,), device="neuron").zero_()
    base = values.as_strided((values.untyped_storage().nbytes() // 4,), (1,), 0)
    device_values = base.to("neuron").as_strided(values.shape, values.stride(), values.storage_offset())
    for destination in (LAYOUTS[target](), LAYOUTS[target]().to("neuron")):
        for origin in (values, device_values):
            view = destination
            if destination.is_neuron:
                like = LAYOUTS[target]()
                room = torch.zeros(like.untyped_storage().nbytes() // 4, device="neuron")
                view = room.as_strided(like.shape, like.stride(), like.storage_offset())
            view.copy_(origin)
            assert torch.equal(view.cpu(), values)


def test_copies_broadcast_and_refuse_shapes_as_the_cpu():
    target = torch.zeros(2, 3, device="neuron")
    target.copy_(torch.arange(3.0))
    assert torch.equal(target.cpu(), torch.arange(3.0).expand(2, 3))
    target.copy_(torch.tensor(4.0, device="neuron"))
    assert torch.equal(target.cpu(), torch.full((2, 3), 4.0))
    with pytest.raises(RuntimeError):
        target.copy_(torch.arange(4.0))
    with pytest.raises(RuntimeError):
        target.copy_(torch.arange(4.0, device="neuron"))


def test_overlapping_copies_read_before_they_write():
    values = torch.arange(10.0, device="neuron")
    values[1:].copy_(values[:-1].clone())
    assert torch.equal(values.cpu(), torch.tensor([0.0, 0, 1, 2, 3, 4, 5, 6, 7, 8]))
    values = torch.arange(9.0, device="neuron").view(3, 3)
    values.copy_(values.t())
    assert torch.equal(values.cpu(), torch.arange(9.0).view(3, 3).t())


def test_conjugate_and_negative_views_copy():
    numbers = torch.tensor([1 + 2j, 3 - 4j])
    target = torch.zeros(2, dtype=torch.complex64, device="neuron")
    target.copy_(numbers.conj())
    assert torch.equal(target.cpu(), numbers.conj())
    host = torch.zeros(2, dtype=torch.complex64)
    host.copy_(target.conj())
    assert torch.equal(host, numbers)
    negative = torch._neg_view(torch.arange(3.0, device="neuron"))
    assert torch.equal(negative.clone().cpu(), -torch.arange(3.0))
    conjugated = torch.zeros(2, dtype=torch.complex64, device="neuron").conj()
    conjugated.copy_(numbers.to("neuron"))
    assert torch.equal(conjugated.cpu(), numbers)


def test_transfers_are_counted():
    torch.neuron.synchronize()
    before = _C.statistics()["transfers"]
    values = torch.zeros(1000).to("neuron")
    values.cpu()
    after = _C.statistics()["transfers"]
    assert after["host_to_device"]["bytes"] - before["host_to_device"]["bytes"] == 4000
    assert after["device_to_host"]["bytes"] - before["device_to_host"]["bytes"] == 4000
