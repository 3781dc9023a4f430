"""Random numbers: the streams are not the CPU's, so distributions, ranges and errors are compared."""

import math

import pytest
import torch
from differential import FLOATS, assert_same, outcome

COUNT = 20000
DEVICE = "neuron"


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def blank(dtype=torch.float32, count=COUNT):
    return torch.zeros(count, dtype=dtype, device=DEVICE)


def moments(tensor):
    numbers = tensor.cpu().double()
    return numbers.mean().item(), numbers.std().item(), numbers.min().item(), numbers.max().item()


def near(actual, expected, spread):
    return abs(actual - expected) < 6 * spread / math.sqrt(COUNT)


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform(dtype):
    mean, std, low, high = moments(blank(dtype).uniform_(1, 3))
    # A narrow type rounds to the lower of its numbers, never to the excluded end.
    assert near(mean, 2, 1) or (dtype == torch.bfloat16 and abs(mean - 2) < 0.03)
    assert abs(std - 2 / math.sqrt(12)) < 0.02
    assert low >= 1
    assert high < 3


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal(dtype):
    mean, std, low, high = moments(blank(dtype).normal_(1, 2))
    assert near(mean, 1, 2)
    assert abs(std - 2) < 0.06
    assert low < -4
    assert high > 6
    mean, std, *_ = moments(torch.normal(torch.full((COUNT,), 2.0, device=DEVICE), 3.0))
    assert near(mean, 2, 3)
    assert abs(std - 3) < 0.1


@pytest.mark.parametrize("dtype", FLOATS)
def test_other_distributions(dtype):
    mean, std, low, _ = moments(blank(dtype).exponential_(2))
    assert near(mean, 0.5, 0.6)
    assert abs(std - 0.5) < 0.03
    assert low > 0
    mean, _, low, _ = moments(blank(dtype).geometric_(0.25))
    assert near(mean, 4, 4)
    assert low == 1
    mean, *_ = moments(blank(dtype).log_normal_(0, 0.25))
    assert near(mean, math.exp(0.03125), 0.3)
    quartiles = blank(dtype).cauchy_(1, 2).cpu().double().quantile(torch.tensor([0.25, 0.5, 0.75]).double())
    assert torch.allclose(quartiles, torch.tensor([-1.0, 1.0, 3.0]).double(), atol=0.2)
    mean, *_ = moments(blank(dtype).bernoulli_(0.3))
    assert near(mean, 0.3, 0.46)
    mean, *_ = moments(torch.bernoulli(torch.full((COUNT,), 0.25, dtype=dtype, device=DEVICE)))
    assert near(mean, 0.25, 0.44)


@pytest.mark.parametrize(
    ("dtype", "end"), [(torch.bool, 1), (torch.uint8, 255), (torch.int8, 127), (torch.int16, 2**15 - 1)]
)
def test_random_covers_the_type(dtype, end):
    mean, _, low, high = moments(blank(dtype, 10 * COUNT).random_())
    assert low == 0
    assert high >= end * 0.99
    assert abs(mean - end / 2) < end / 50


def test_random_ranges():
    mean, _, low, high = moments(blank(torch.int64).random_(-5, 6))
    assert (low, high) == (-5, 5)
    assert near(mean, 0, 3.2)
    mean, _, low, high = moments(torch.randint(2**40, (COUNT,), device=DEVICE))
    assert low >= 0
    assert high < 2**40
    assert abs(mean / 2**40 - 0.5) < 0.02
    mean, _, low, high = moments(torch.randint(3, 10, (COUNT,), device=DEVICE))
    assert (low, high) == (3, 9)


def test_every_element_of_a_strided_tensor_is_filled():
    for fill, valid in (
        (lambda x: x.normal_(), lambda x: x != 0),
        (lambda x: x.uniform_(1, 2), lambda x: x >= 1),
        (lambda x: x.random_(1, 100), lambda x: x >= 1),
        (lambda x: x.bernoulli_(1.0), lambda x: x == 1),
        (lambda x: x.exponential_(), lambda x: x > 0),
    ):
        base = torch.zeros(3, 8, device=DEVICE)
        view = base[:, ::2].t()
        assert fill(view) is view
        assert view.stride() == (2, 8)
        assert valid(view.cpu()).all()
        assert (base[:, 1::2].cpu() == 0).all()


def test_streams_repeat_and_advance():
    def draw():
        x = blank(count=5).normal_()
        return torch.cat([x, torch.rand(3, device=DEVICE), torch.randperm(4, device=DEVICE).float()]).cpu()

    torch.manual_seed(3)
    first, second = draw(), draw()
    torch.manual_seed(3)
    assert torch.equal(draw(), first)
    assert not torch.equal(first, second)
    assert torch.equal(draw(), second)
    generator = torch.Generator(device=DEVICE).manual_seed(7)
    one = torch.rand(4, device=DEVICE, generator=generator)
    generator.manual_seed(7)
    assert torch.equal(one.cpu(), torch.rand(4, device=DEVICE, generator=generator).cpu())


def test_empty():
    for fill in ("uniform_", "normal_", "exponential_", "random_", "bernoulli_", "cauchy_", "log_normal_"):
        assert getattr(torch.empty(0, 3, device=DEVICE), fill)().shape == (0, 3)
    assert torch.empty(0, device=DEVICE).geometric_(0.5).shape == (0,)
    assert torch.randint(3, (0,), device=DEVICE).shape == (0,)


def test_randperm():
    for count in (0, 1, 2, 1000):
        permutation = torch.randperm(count, device=DEVICE).cpu()
        assert torch.equal(permutation.sort().values, torch.arange(count))
    assert torch.randperm(5, dtype=torch.int32, device=DEVICE).dtype == torch.int32


def test_multinomial():
    weights = torch.tensor([0.0, 1, 3, 0, 6, 0])
    expected = weights / weights.sum()
    drawn = torch.multinomial(weights.to(DEVICE), COUNT, replacement=True).cpu()
    assert torch.allclose(torch.bincount(drawn, minlength=6) / COUNT, expected, atol=0.02)
    drawn = torch.multinomial(weights.to(DEVICE).expand(COUNT, 6), 3).cpu()
    assert torch.equal(drawn.sort(1).values, torch.tensor([1, 2, 4]).expand(COUNT, 3))
    assert torch.allclose(torch.bincount(drawn[:, 0], minlength=6) / COUNT, expected, atol=0.02)
    single = torch.multinomial(weights.to(DEVICE).expand(COUNT, 6), 1).cpu().flatten()
    assert torch.allclose(torch.bincount(single, minlength=6) / COUNT, expected, atol=0.02)
    assert torch.multinomial(torch.ones(0, 3, device=DEVICE), 2).shape == (0, 2)


NAN = float("nan")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.uniform_(2, 1),
        lambda x: x.long().uniform_(),
        lambda x: x.normal_(0, -1),
        lambda x: x.long().normal_(),
        lambda x: x.bernoulli_(2),
        lambda x: torch.bernoulli(x * 10),
        lambda x: torch.bernoulli(x.long()),
        lambda x: x.exponential_(0),
        lambda x: x.random_(3, 3),
        lambda x: x.to(torch.int8).random_(0, 300),
        lambda x: x.geometric_(1),
        lambda x: x.cauchy_(0, 0),
        lambda x: x.log_normal_(0, 0),
        lambda x: torch.multinomial(x * 0, 1),
        lambda x: torch.multinomial(x * -1, 1),
        lambda x: torch.multinomial(x * -1, 2, True),
        lambda x: torch.multinomial(x * NAN, 1),
        lambda x: torch.multinomial(x / 0, 2, True),
        lambda x: torch.multinomial(x, 4),
        lambda x: torch.multinomial(x, 0),
        lambda x: torch.multinomial(x.long(), 1),
        lambda x: torch.multinomial(x[None], 1),
        lambda x: torch.normal(x, -1.0),
        lambda x: torch.normal(x, -x),
        lambda x: torch.randperm(-1, device=x.device),
    ],
)
def test_errors(call):
    expected = outcome(lambda: call(torch.ones(2, 3)))
    actual = outcome(lambda: call(torch.ones(2, 3).to(DEVICE)).cpu())
    assert isinstance(expected, Exception)
    assert_same(actual, expected)
