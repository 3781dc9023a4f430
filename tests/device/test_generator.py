"""Random numbers: one counter-based stream a device."""

import pytest
import torch

pytestmark = pytest.mark.usefixtures("strict")


def test_manual_seed_repeats_the_stream():
    torch.manual_seed(11)
    first = torch.rand(1000, device="neuron").cpu()
    second = torch.rand(1000, device="neuron").cpu()
    torch.manual_seed(11)
    assert torch.equal(torch.rand(1000, device="neuron").cpu(), first)
    assert not torch.equal(first, second)
    torch.neuron.manual_seed(11)
    assert torch.equal(torch.rand(1000, device="neuron").cpu(), first)


def test_the_state_is_sixteen_bytes_and_restores():
    generator = torch.Generator("neuron")
    assert generator.device.type == "neuron"
    generator.manual_seed(5)
    state = generator.get_state()
    assert state.numel() == 16 and state.device.type == "cpu"
    first = torch.rand(10, device="neuron", generator=generator).cpu()
    generator.set_state(state)
    assert torch.equal(torch.rand(10, device="neuron", generator=generator).cpu(), first)
    assert generator.initial_seed() == 5
    with pytest.raises(RuntimeError, match="16 bytes"):
        generator.set_state(torch.zeros(3, dtype=torch.uint8))


def test_rng_state_of_the_module():
    state = torch.neuron.get_rng_state()
    first = torch.randn(4, device="neuron").cpu()
    torch.neuron.set_rng_state(state)
    assert torch.equal(torch.randn(4, device="neuron").cpu(), first)


def test_generators_of_other_devices_are_refused():
    with pytest.raises(RuntimeError, match="neuron"):
        torch.rand(3, device="neuron", generator=torch.Generator("cpu"))


def test_distributions_have_their_moments():
    torch.manual_seed(0)
    count = 200_000
    uniform = torch.rand(count, device="neuron").cpu()
    assert uniform.min() >= 0 and uniform.max() < 1
    assert uniform.mean().item() == pytest.approx(0.5, abs=4 * (1 / 12 / count) ** 0.5)
    normal = torch.randn(count, device="neuron").cpu().double()
    assert normal.mean().item() == pytest.approx(0, abs=4 / count**0.5)
    assert normal.var().item() == pytest.approx(1, abs=4 * (2 / count) ** 0.5)
    integers = torch.randint(0, 10, (count,), device="neuron").cpu()
    assert integers.min() == 0 and integers.max() == 9
    counts = torch.bincount(integers).double()
    assert ((counts - count / 10) ** 2 / (count / 10)).sum() < 27.9  # chi-square, 9 degrees, p = 0.001
    bernoulli = torch.empty(count, device="neuron").bernoulli_(0.3).cpu()
    assert bernoulli.mean().item() == pytest.approx(0.3, abs=4 * (0.21 / count) ** 0.5)


def test_dropout_scales_and_repeats():
    values = torch.ones(100_000, device="neuron")
    torch.manual_seed(2)
    first = torch.nn.functional.dropout(values, 0.25).cpu()
    kept = first != 0
    assert kept.double().mean().item() == pytest.approx(0.75, abs=0.01)
    assert torch.equal(first[kept], torch.full((int(kept.sum()),), 1 / 0.75))
    torch.manual_seed(2)
    assert torch.equal(torch.nn.functional.dropout(values, 0.25).cpu(), first)


def test_multinomial_never_draws_the_impossible():
    torch.manual_seed(0)
    weights = torch.tensor([0.0, 1.0, 0.0, 3.0], device="neuron")
    draws = torch.multinomial(weights, 4000, replacement=True).cpu()
    assert set(draws.tolist()) == {1, 3}
    assert (draws == 3).double().mean().item() == pytest.approx(0.75, abs=0.03)
    for _ in range(20):
        assert sorted(torch.multinomial(weights, 2).tolist()) == [1, 3]


def test_randperm_is_a_permutation():
    assert torch.equal(torch.randperm(50, device="neuron").cpu().sort().values, torch.arange(50))
