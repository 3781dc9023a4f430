"""Making, viewing, printing and reading device tensors."""

import pytest
import torch

pytestmark = pytest.mark.usefixtures("strict")


def test_factories_give_device_tensors():
    for tensor in (
        torch.empty(2, 3, device="neuron"),
        torch.zeros(2, 3, device="neuron"),
        torch.ones(2, 3, device="neuron"),
        torch.full((2, 3), 7.0, device="neuron"),
        torch.arange(6, device="neuron"),
        torch.tensor([1.0, 2.0], device="neuron"),
        torch.empty_strided((2, 3), (1, 2), device="neuron"),
        torch.zeros(2, 3).to("neuron"),
        torch.zeros(2, 3).neuron(),
    ):
        assert tensor.device == torch.device("neuron", 0)
        assert tensor.is_neuron


def test_values_survive_the_round_trip():
    values = torch.randn(3, 4, 5)
    assert torch.equal(values.to("neuron").cpu(), values)


@pytest.mark.parametrize("make", ["empty", "zeros", "ones"])
@pytest.mark.parametrize("size", [(), (0,), (3, 0, 2), (1,), (2, 3, 4)])
def test_sizes_and_strides_are_those_of_the_cpu(make, size):
    expected = getattr(torch, make)(size)
    actual = getattr(torch, make)(size, device="neuron")
    assert actual.shape == expected.shape
    assert actual.stride() == expected.stride()


def test_channels_last_strides():
    expected = torch.empty(2, 3, 4, 5, memory_format=torch.channels_last)
    actual = torch.empty(2, 3, 4, 5, memory_format=torch.channels_last, device="neuron")
    assert actual.stride() == expected.stride()
    assert (
        torch.zeros(2, 3, 4, 5, device="neuron")
        .contiguous(memory_format=torch.channels_last)
        .is_contiguous(memory_format=torch.channels_last)
    )


VIEWS = {
    "view": lambda x: x.view(4, 6),
    "reshape": lambda x: x.transpose(0, 1).reshape(4, 6),
    "transpose": lambda x: x.transpose(0, 2),
    "permute": lambda x: x.permute(2, 0, 1),
    "slice": lambda x: x[1:, ::2, 1:3],
    "select": lambda x: x[1, :, -1],
    "expand": lambda x: x[:, :1].expand(2, 5, 4),
    "unfold": lambda x: x.unfold(2, 2, 1),
    "as_strided": lambda x: x.as_strided((3, 2), (5, 3), 2),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "diagonal": lambda x: x.diagonal(0, 1, 2),
    "squeeze": lambda x: x[:, :1].squeeze(1),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "flatten": lambda x: x.flatten(),
    "movedim": lambda x: x.movedim(0, 2),
    "chunk": lambda x: x.chunk(2, 2)[1],
    "detach": lambda x: x.detach(),
    "view_dtype": lambda x: x.view(torch.int32),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_share_memory_and_match_the_cpu(name):
    base = torch.arange(24.0).view(2, 3, 4)
    device_base = base.to("neuron")
    expected, actual = VIEWS[name](base), VIEWS[name](device_base)
    assert actual.shape == expected.shape
    assert actual.stride() == expected.stride()
    assert actual.storage_offset() == expected.storage_offset()
    assert torch.equal(actual.cpu(), expected)
    if name != "reshape":
        assert actual.untyped_storage().data_ptr() == device_base.untyped_storage().data_ptr()


def test_writes_through_views_reach_the_base():
    base = torch.zeros(3, 4, device="neuron")
    base[1:, ::2] += 2
    base.t()[3].fill_(5)
    expected = torch.zeros(3, 4)
    expected[1:, ::2] += 2
    expected.t()[3].fill_(5)
    assert torch.equal(base.cpu(), expected)


def test_complex_views():
    pairs = torch.arange(6.0, device="neuron").view(3, 2)
    assert torch.equal(torch.view_as_complex(pairs).cpu(), torch.view_as_complex(pairs.cpu()))
    numbers = torch.tensor([1 + 2j, 3 - 4j], device="neuron")
    assert torch.equal(torch.view_as_real(numbers).cpu(), torch.tensor([[1.0, 2.0], [3.0, -4.0]]))
    assert torch.equal(numbers.conj().cpu(), torch.tensor([1 - 2j, 3 + 4j]))
    assert torch.equal(numbers.conj().clone().cpu(), torch.tensor([1 - 2j, 3 + 4j]))


def test_item_and_truth():
    assert torch.tensor(3.5, device="neuron").item() == 3.5
    assert torch.tensor([7], device="neuron").item() == 7
    assert bool(torch.tensor(True, device="neuron")) is True
    assert int(torch.tensor(9, device="neuron")) == 9
    assert torch.tensor(2**62 + 1, device="neuron").item() == 2**62 + 1
    assert torch.tensor(1 + 2j, device="neuron").item() == 1 + 2j
    assert torch.tensor([[1, 2], [3, 4]], device="neuron").tolist() == [[1, 2], [3, 4]]
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        torch.zeros(2, device="neuron").item()


@pytest.mark.parametrize(
    "values", [torch.arange(5), torch.randn(2, 2), torch.tensor([True, False]), torch.zeros(0), torch.randn(2000)]
)
def test_printing_shows_values_and_device(values):
    text = repr(values.to("neuron"))
    assert "device='neuron:0'" in text
    inner = repr(values).removeprefix("tensor(").removesuffix(")").split(", dtype=")[0].split(", size=")[0]
    assert inner.strip() in text


def test_resize_and_set():
    tensor = torch.arange(4.0, device="neuron")
    tensor.resize_(2, 4)
    assert tensor.shape == (2, 4)
    assert torch.equal(tensor[0].cpu(), torch.arange(4.0))
    other = torch.arange(6.0, device="neuron")
    tensor.set_(other.untyped_storage(), 1, (2, 2), (2, 1))
    assert torch.equal(tensor.cpu(), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor.set_(other)
    assert tensor.shape == (6,)
    other.untyped_storage().resize_(48)
    assert torch.equal(other.cpu(), torch.arange(6.0))


def test_device_that_does_not_exist():
    with pytest.raises(RuntimeError, match=r"got neuron:7, expected neuron:0"):
        torch.ones(2, device="neuron:7")
    with pytest.raises(RuntimeError, match="neuron:7"):
        torch.zeros(2).to("neuron:7")
    with pytest.raises(RuntimeError, match="neuron:7"):
        torch.neuron.set_device(7)
    assert torch.ones(2, device="neuron").sum().item() == 2


def test_quantized_and_sparse_tensors_are_refused_clearly():
    with pytest.raises(NotImplementedError, match="holds dense strided tensors only"):
        torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,), device="neuron")
    # Not in strict mode, which would refuse the fallback before its result is seen.
    with torch.neuron.fallback("silent"), pytest.raises(NotImplementedError, match="not a strided tensor"):
        torch.zeros(3, device="neuron").to_sparse()


@pytest.mark.parametrize("offset", [-1, 0, 2])
def test_triangle_indices(offset):
    for make in (torch.tril_indices, torch.triu_indices):
        assert torch.equal(make(4, 5, offset, device="neuron").cpu(), make(4, 5, offset))
        assert make(3, 3, offset, dtype=torch.int32, device="neuron").dtype == torch.int32
