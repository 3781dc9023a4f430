"""Losses and their gradients."""

import pytest
import torch
from differential import FLOATS, check, layouts, pair, values
from torch.nn import functional

REDUCTIONS = ("none", "mean", "sum")
TOLERANCE = {
    torch.float32: (2e-6, 2e-6),
    torch.float64: (1e-12, 1e-12),
    torch.float16: (5e-3, 5e-3),
    torch.bfloat16: (2e-2, 2e-2),
}

ELEMENTWISE = {
    "mse": functional.mse_loss,
    "l1": functional.l1_loss,
    "smooth_l1": functional.smooth_l1_loss,
    "smooth_l1_beta": lambda x, y, reduction: functional.smooth_l1_loss(x, y, reduction=reduction, beta=0.3),
    "smooth_l1_zero": lambda x, y, reduction: functional.smooth_l1_loss(x, y, reduction=reduction, beta=0.0),
    "huber": functional.huber_loss,
    "huber_delta": lambda x, y, reduction: functional.huber_loss(x, y, reduction=reduction, delta=0.5),
    "bce": functional.binary_cross_entropy,
    "bce_logits": functional.binary_cross_entropy_with_logits,
    "kl": functional.kl_div,
    "soft_margin": functional.soft_margin_loss,
}


def kind_of(name):
    return "unit" if name == "bce" else "finite"


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.filterwarnings("ignore")
def test_elementwise_losses(name, reduction):
    for dtype in (*FLOATS, torch.int64):
        for layout in layouts():
            pairs = pair(layout, dtype, kind_of(name)), pair(layout, dtype, "unit", 1)
            check(
                lambda x, y: ELEMENTWISE[name](x, y, reduction=reduction),
                *pairs,
                message=f"{name} {dtype} {layout.name}",
                tolerance=TOLERANCE,
            )


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.filterwarnings("ignore")
def test_elementwise_gradients(name, reduction):
    def gradient(x, y):
        leaf = x.detach().clone().requires_grad_()
        loss = ELEMENTWISE[name](leaf, y, reduction=reduction)
        (3 * loss).sum().backward()
        return leaf.grad

    for dtype in (torch.float32, torch.bfloat16):
        for layout in layouts()[:4]:
            pairs = pair(layout, dtype, kind_of(name)), pair(layout, dtype, "unit", 1)
            tolerance = {**TOLERANCE, torch.float32: (1e-5, 2e-6)}
            check(gradient, *pairs, message=f"{name} {dtype} {layout.name}", tolerance=tolerance)


def test_binary_cross_entropy_with_weight_and_refusals():
    x, y, w = (values((4, 3), torch.float32, "unit", seed) for seed in range(3))
    check(functional.binary_cross_entropy, x, y, w, tolerance=TOLERANCE)
    check(functional.binary_cross_entropy, torch.tensor([0.0, 1.0, 0.5]), torch.tensor([1.0, 0.0, 0.5]))
    check(functional.binary_cross_entropy, x + 1, y)
    check(functional.binary_cross_entropy, x, y - 1)
    check(functional.binary_cross_entropy, x, y.bfloat16())
    check(lambda a, b: functional.smooth_l1_loss(a, b, beta=-1.0), x, y)
    check(lambda a, b: functional.huber_loss(a, b, delta=0.0), x, y)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nll_loss(dtype, reduction):
    x = functional.log_softmax(values((6, 5), torch.float64, "finite"), 1).to(dtype)
    target = torch.tensor([0, 4, 2, -100, 1, 3])
    weight = values((5,), dtype, "positive")
    for keywords in ({}, {"ignore_index": 2}, {"weight": weight}):
        check(
            lambda t, y, weight=None, **k: functional.nll_loss(t, y, weight, reduction=reduction, **k),
            x,
            target,
            tolerance=TOLERANCE,
            **keywords,
        )
    check(lambda t, y: functional.nll_loss(t, y, reduction=reduction), x[0], target[0], tolerance=TOLERANCE)
    check(
        lambda t, y: functional.nll_loss(t, y, reduction=reduction),
        x,
        target.clamp(0).to(torch.uint8),
        tolerance=TOLERANCE,
    )
    check(
        lambda t, y: functional.nll_loss(t, y, reduction=reduction), x.t().contiguous().t(), target, tolerance=TOLERANCE
    )
    check(lambda t, y: functional.nll_loss(t, y, reduction=reduction), x[:0], target[:0])
    check(lambda t, y: functional.nll_loss(t, y, reduction=reduction), x, torch.full((6,), -100))


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_cross_entropy_gradients(reduction):
    def gradient(x, target, weight):
        leaf = x.detach().clone().requires_grad_()
        loss = functional.cross_entropy(leaf, target, weight, ignore_index=2, reduction=reduction)
        (3 * loss).sum().backward()
        return loss.detach(), leaf.grad

    target = torch.tensor([0, 4, 2, 2, 1, 3])
    for dtype in (torch.float32, torch.float64):
        x = values((6, 5), dtype, "finite")
        tolerance = {**TOLERANCE, torch.float32: (1e-5, 2e-6)}
        for weight in (None, values((5,), dtype, "positive")):
            check(gradient, x, target, weight, tolerance=tolerance)
        check(lambda x, y: gradient(x, y, None), x[0], target[0], tolerance=tolerance)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_two_dimensional_nll_loss(reduction):
    def gradient(x, target, weight=None):
        leaf = x.detach().clone().requires_grad_()
        loss = functional.nll_loss(leaf, target, weight, reduction=reduction)
        loss.sum().backward()
        return loss.detach(), leaf.grad

    x = values((2, 3, 4, 5), torch.float32, "finite")
    target = torch.randint(0, 3, (2, 4, 5), generator=torch.Generator().manual_seed(0))
    target[0, 0, 0] = -100
    check(gradient, x, target, tolerance=TOLERANCE)
    check(gradient, x, target, values((3,), torch.float32, "positive"), tolerance=TOLERANCE)


def test_label_smoothing_and_soft_targets():
    x = values((6, 5), torch.float32, "finite")
    check(
        lambda t, y: functional.cross_entropy(t, y, label_smoothing=0.1),
        x,
        torch.tensor([0, 4, 2, 2, 1, 3]),
        tolerance=TOLERANCE,
    )
    check(functional.cross_entropy, x, torch.softmax(x, 1), tolerance=TOLERANCE)


def test_nll_loss_refusals():
    x = torch.randn(4, 5)
    check(functional.nll_loss, x, torch.tensor([0, 1, 2, 5]))
    check(functional.nll_loss, x, torch.tensor([0, 1, 2, -1]))
    check(functional.nll_loss, x, torch.ones(4))
    check(functional.nll_loss, x, torch.ones(4, dtype=torch.int32))
    check(functional.nll_loss, x, torch.ones(3, dtype=torch.int64))
    check(lambda t, y, w: functional.nll_loss(t, y, w), x, torch.ones(4, dtype=torch.int64), torch.ones(3))
    check(functional.nll_loss, x.long(), torch.ones(4, dtype=torch.int64))


def test_no_classes():
    check(functional.cross_entropy, torch.ones(3, 0), torch.zeros(3, dtype=torch.int64))
    check(functional.nll_loss, torch.ones(0, 0), torch.zeros(0, dtype=torch.int64), reduction="sum")
