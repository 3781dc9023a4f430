"""Modules, optimizers, saving and loading."""

import copy
import io
import pickle

import pytest
import torch

pytestmark = pytest.mark.usefixtures("strict")


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU(), torch.nn.LayerNorm(8), torch.nn.Linear(8, 2))


def test_moving_a_module_keeps_its_parameters():
    module = model()
    before = list(module.parameters())
    module.to("neuron")
    after = list(module.parameters())
    assert all(a is b for a, b in zip(before, after, strict=True))
    assert all(p.device.type == "neuron" for p in after)
    module.cpu()
    assert all(p.device.type == "cpu" for p in before)


def test_tied_weights_stay_tied():
    module = torch.nn.ModuleDict({"a": torch.nn.Linear(4, 4), "b": torch.nn.Linear(4, 4)})
    module["b"].weight = module["a"].weight
    module.to("neuron")
    assert module["a"].weight is module["b"].weight


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW"])
@pytest.mark.parametrize("options", [{}, {"foreach": False}, {"foreach": True}], ids=["default", "single", "foreach"])
def test_training_equals_the_cpu(optimizer, options):
    losses = {}
    for device in ("cpu", "neuron"):
        module = model().to(device)
        torch.manual_seed(1)
        inputs, targets = torch.randn(16, 6).to(device), torch.randn(16, 2).to(device)
        stepper = getattr(torch.optim, optimizer)(module.parameters(), lr=0.01, **options)
        losses[device] = []
        for _ in range(10):
            stepper.zero_grad()
            loss = torch.nn.functional.mse_loss(module(inputs), targets)
            loss.backward()
            stepper.step()
            losses[device].append(loss.item())
    assert losses["neuron"] == pytest.approx(losses["cpu"], abs=1e-5)
    assert losses["neuron"][-1] < losses["neuron"][0]


def test_save_and_load():
    module = model().to("neuron")
    buffer = io.BytesIO()
    torch.save(module.state_dict(), buffer)
    buffer.seek(0)
    loaded = torch.load(buffer)
    assert all(value.device.type == "neuron" for value in loaded.values())
    buffer.seek(0)
    on_host = torch.load(buffer, map_location="cpu")
    assert all(value.device.type == "cpu" for value in on_host.values())
    fresh = model()
    fresh.load_state_dict(loaded)
    for name, value in module.state_dict().items():
        assert torch.equal(fresh.state_dict()[name], value.cpu())
    other = model().to("neuron")
    other.load_state_dict(on_host)
    assert torch.equal(other[0].weight.cpu(), on_host["0.weight"])


def test_loading_to_the_device():
    buffer = io.BytesIO()
    torch.save({"x": torch.arange(3.0)}, buffer)
    for where in ("neuron", "neuron:0", torch.device("neuron")):
        buffer.seek(0)
        assert torch.load(buffer, map_location=where)["x"].device == torch.device("neuron", 0)


def test_pickle_and_deepcopy_keep_values_strides_and_aliases():
    values = torch.arange(12.0, device="neuron").view(3, 4).t()
    for other in (pickle.loads(pickle.dumps(values)), copy.deepcopy(values)):
        assert other.device.type == "neuron"
        assert other.stride() == values.stride()
        assert torch.equal(other.cpu(), values.cpu())
    pair = [values, values[1:]]
    first, second = copy.deepcopy(pair)
    assert first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()


def test_backward_on_the_device():
    values = torch.randn(4, 5)
    plain, on_device = values.clone().requires_grad_(), values.to("neuron").requires_grad_()
    for tensor in (plain, on_device):
        (torch.softmax(tensor @ tensor.t(), -1).log() * tensor.sum()).sum().backward()
    torch.testing.assert_close(on_device.grad.cpu(), plain.grad)


def test_gradients_cross_devices():
    weight = torch.randn(3, 3, requires_grad=True)
    (weight.to("neuron") @ torch.ones(3, 1, device="neuron")).sum().backward()
    assert torch.equal(weight.grad, torch.ones(3, 3))


def test_checkpointing():
    from torch.utils.checkpoint import checkpoint

    module = model().to("neuron")
    inputs = torch.randn(4, 6).to("neuron")
    module(inputs).sum().backward()
    expected = module[0].weight.grad.clone()
    module.zero_grad()
    for reentrant in (False, True):
        checked = inputs.clone().requires_grad_()
        checkpoint(module, checked, use_reentrant=reentrant).sum().backward()
        torch.testing.assert_close(module[0].weight.grad.cpu(), expected.cpu())
        module.zero_grad()
