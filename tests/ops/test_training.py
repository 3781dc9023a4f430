"""Dropout, fused optimizers and gradient scaling."""

import pytest
import torch
from differential import FLOATS, assert_same, check, layouts, pair, values
from torch.nn import functional

aten = torch.ops.aten


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("probability", [0.0, 0.25, 0.9, 1.0])
def test_dropout(dtype, probability):
    x = torch.ones(2000, dtype=dtype, device="neuron")
    result, mask = aten.native_dropout(x, probability, True)
    kept = mask.float().mean().item()
    assert abs(kept - (1 - probability)) < 0.05
    scale = 0.0 if probability == 1 else 1 / (1 - probability)
    assert_same(result.cpu(), (mask.cpu().double() * scale).to(dtype))


def test_dropout_has_the_layout_of_its_input():
    for layout in layouts():
        operand = pair(layout, torch.float32, "finite")
        for train in (True, False, None):
            expected = aten.native_dropout(operand.cpu, 0.0, train)
            actual = aten.native_dropout(operand.device, 0.0, train)
            if layout.name == "empty":
                actual = [actual[0]]
                expected = [expected[0]]
            for one, other in zip(actual, expected, strict=True):
                assert one.stride() == other.stride(), layout.name
                assert torch.equal(one.cpu(), other), layout.name


def test_dropout_draws_anew_and_repeats_after_a_seed():
    x = torch.ones(100, device="neuron")
    torch.neuron.manual_seed(3)
    first, second = functional.dropout(x), functional.dropout(x)
    torch.neuron.manual_seed(3)
    assert torch.equal(functional.dropout(x).cpu(), first.cpu())
    assert not torch.equal(first.cpu(), second.cpu())


def test_dropout_gradient_uses_the_same_mask():
    x = torch.ones(100, device="neuron", requires_grad=True)
    result = functional.dropout(x, 0.5)
    result.sum().backward()
    assert torch.equal(x.grad.cpu(), result.detach().cpu())


def test_dropout_refusals():
    check(lambda x: aten.native_dropout(x, 1.5, True), torch.ones(3))
    check(lambda x: aten.native_dropout(x, 0.5, True), torch.ones(3, dtype=torch.int64))


OPTIMIZERS = {
    "adamw": (torch.optim.AdamW, {"lr": 0.01, "weight_decay": 0.1}),
    "adamw_amsgrad": (torch.optim.AdamW, {"lr": 0.01, "amsgrad": True}),
    "adamw_maximize": (torch.optim.AdamW, {"lr": 0.01, "maximize": True, "betas": (0.3, 0.5)}),
    "adam": (torch.optim.Adam, {"lr": 0.01, "weight_decay": 0.1, "eps": 1e-3}),
    "sgd": (torch.optim.SGD, {"lr": 0.1}),
    "sgd_momentum": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.01}),
    "sgd_nesterov": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
}


def train(optimizer_class, keywords, device, steps=4):
    parameters = [
        values(shape, torch.float32, "finite", seed).to(device).requires_grad_()
        for seed, shape in enumerate([(4, 3), (5,), (), (0,)])
    ]
    optimizer = optimizer_class(parameters, **keywords)
    for step in range(steps):
        for seed, parameter in enumerate(parameters):
            parameter.grad = values(tuple(parameter.shape), torch.float32, "finite", 10 * step + seed).to(device)
        optimizer.step()
    return [parameter.detach().cpu() for parameter in parameters]


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name, fused):
    optimizer_class, keywords = OPTIMIZERS[name]
    keywords = {**keywords, "fused": fused}
    expected = train(optimizer_class, keywords, "cpu")
    actual = train(optimizer_class, keywords, "neuron")
    assert_same(actual, expected, name, {torch.float32: (5e-6, 1e-6)})


def test_parameters_of_transposed_memory():
    results = []
    for device in ("cpu", "neuron"):
        parameter = torch.nn.Parameter(values((3, 4), torch.float32, "finite").to(device).t())
        parameter.grad = values((3, 4), torch.float32, "finite", 1).to(device).t()
        torch.optim.AdamW([parameter], lr=0.1).step()
        results.append(parameter.detach().cpu())
    assert_same(results[1], results[0], tolerance={torch.float32: (5e-6, 1e-6)})


def test_gradient_scaling_skips_a_step_with_infinities():
    scale = torch.tensor(65536.0, device="neuron")
    tracker = torch.tensor(0, dtype=torch.int32, device="neuron")
    found = torch.tensor(0.0, device="neuron")
    gradients = [torch.tensor([1.0, float("inf")], device="neuron"), torch.tensor([2.0], device="neuron")]
    torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, torch.tensor(0.5, device="neuron"))
    assert found.item() == 1
    assert gradients[1].item() == 1
    torch._amp_update_scale_(scale, tracker, found, 2.0, 0.5, 2)
    assert (scale.item(), tracker.item()) == (32768, 0)
    found.zero_()
    torch._amp_update_scale_(scale, tracker, found, 2.0, 0.5, 2)
    assert (scale.item(), tracker.item()) == (32768, 1)
    torch._amp_update_scale_(scale, tracker, found, 2.0, 0.5, 2)
    assert (scale.item(), tracker.item()) == (65536, 0)
