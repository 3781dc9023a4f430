"""The module torch.neuron: the surface generic code touches."""

import dataclasses

import pytest
import torch

import opentrn  # noqa: F401  registers the device even where autoload is off


def test_device_queries():
    assert torch.neuron.is_available()
    assert torch.neuron.device_count() >= 1
    torch.neuron.init()
    assert torch.neuron.is_initialized()
    assert not torch.neuron._is_in_bad_fork()
    properties = torch.neuron.get_device_properties(0)
    assert dataclasses.asdict(properties)["total_memory"] == torch.neuron.mem_get_info()[1]
    assert torch.neuron.get_device_name("neuron:0") == properties.name
    assert torch.neuron.get_device_capability()[1] == 0
    assert f"NeuronCore-v{torch.neuron.get_device_capability()[0]}" in properties.name


def test_device_contexts():
    with torch.neuron.device(0):
        assert torch.neuron.current_device() == 0
    with torch.neuron.device_of(torch.ones(1, device="neuron")):
        assert torch.neuron.current_device() == 0
    with torch.neuron.device_of(torch.ones(1)), torch.neuron.device(-1):
        assert torch.neuron.current_device() == 0
    torch.neuron.set_device("neuron:0")


@pytest.mark.parametrize("name", [7, "neuron:7", torch.device("neuron", 7)])
def test_no_such_device(name):
    with pytest.raises(RuntimeError, match="neuron:7"):
        torch.neuron.set_device(name)
    with pytest.raises(RuntimeError, match="neuron:7"):
        torch.neuron.get_rng_state(name)
    assert torch.neuron.current_device() == 0


@pytest.mark.parametrize(("wrong", "kind"), [("cpu", ValueError), (1.5, TypeError)])
def test_wrong_device_argument(wrong, kind):
    with pytest.raises(kind, match="neuron"):
        torch.neuron.synchronize(wrong)


def draw():
    return torch.rand(100, device="neuron").cpu()


def test_seeds():
    torch.manual_seed(5)
    first = draw()
    torch.manual_seed(5)
    assert torch.equal(draw(), first)
    torch.neuron.manual_seed_all(5)
    assert torch.equal(draw(), first)
    assert torch.neuron.initial_seed() == 5
    torch.neuron.manual_seed(6)
    assert not torch.equal(draw(), first)
    torch.neuron.seed_all()
    assert not torch.equal(draw(), first)
    assert len(torch.neuron.default_generators) == torch.neuron.device_count()


def test_generator_state():
    state = torch.neuron.get_rng_state()
    first = draw()
    torch.neuron.set_rng_state(state)
    assert torch.equal(draw(), first)
    torch.neuron.set_rng_state_all([state])
    assert torch.equal(draw(), first)
    assert torch.equal(torch.neuron.get_rng_state_all()[0], torch.neuron.get_rng_state())
    with torch.random.fork_rng(device_type="neuron"):
        draw()
    torch.neuron.set_rng_state(state)
    assert torch.equal(draw(), first)


def test_streams():
    default = torch.neuron.default_stream()
    assert torch.neuron.current_stream() == default
    other = torch.neuron.Stream()
    assert isinstance(other, torch.Stream)
    assert other != default
    with torch.neuron.stream(other):
        assert torch.neuron.current_stream() == other
        x = torch.ones(4, device="neuron") + 1
    assert torch.neuron.current_stream() == default
    with torch.neuron.stream(None):
        assert torch.neuron.current_stream() == default
    torch.neuron.set_stream(other)
    assert torch.neuron.current_stream() == other
    torch.neuron.set_stream(default)
    other.synchronize()
    assert x.tolist() == [2.0] * 4


def test_events():
    start, end = (torch.neuron.Event(enable_timing=True) for _ in range(2))
    assert isinstance(start, torch.Event)
    assert isinstance(start, torch.neuron.Event)
    assert not isinstance(torch.Event("cpu"), torch.neuron.Event)
    start.record()
    x = torch.rand(256, 256, device="neuron")
    for _ in range(5):
        x = x @ x
    end.record()
    end.synchronize()
    assert end.query()
    assert start.elapsed_time(end) > 0
    stream = torch.neuron.Stream()
    assert stream.record_event(end) is end
    assert isinstance(stream.record_event(), torch.neuron.Event)
    torch.neuron.current_stream().wait_event(end)


def test_memory():
    before = torch.neuron.memory_allocated()
    torch.neuron.reset_peak_memory_stats()
    x = torch.empty(1 << 20, device="neuron")
    assert torch.neuron.memory_allocated() - before >= 4 << 20
    assert torch.neuron.max_memory_allocated() >= torch.neuron.memory_allocated()
    assert torch.neuron.memory_reserved() >= torch.neuron.memory_allocated()
    del x
    assert torch.neuron.memory_allocated() == before
    assert torch.neuron.max_memory_allocated() - before >= 4 << 20
    torch.neuron.reset_peak_memory_stats()
    assert torch.neuron.max_memory_allocated() == before
    assert torch.neuron.memory_stats()["allocated_bytes.all.current"] == before
    torch.neuron.reset_accumulated_memory_stats()
    assert torch.neuron.memory_stats()["allocated_bytes.all.allocated"] == 0
    torch.neuron.empty_cache()
    free, total = torch.neuron.mem_get_info()
    assert 0 < free <= total
    assert "neuron:0" in torch.neuron.memory_summary()


def test_op_tracking():
    x = torch.linspace(0, 1, 4, device="neuron")
    torch.neuron.clear_op_tracking()
    assert torch.neuron.get_executed_ops() == []
    for _ in range(3):
        torch.add(x, x)
    assert torch.neuron.get_executed_ops() == ["aten::add.Tensor"] * 3
    with torch.neuron.fallback("silent"):
        torch.special.airy_ai(x)
    assert [name.partition(".")[0] for name in torch.neuron.get_fallback_ops()] == ["aten::special_airy_ai"]
    record = next(row for row in torch.neuron.fallback_report() if "airy_ai" in row.operator)
    assert record.line.startswith("test_neuron_module.py:")
    torch.neuron.clear_op_tracking()
    assert torch.neuron.get_executed_ops() == torch.neuron.get_fallback_ops() == []


def test_fallback_modes():
    x = torch.linspace(0, 1, 4, device="neuron")
    with torch.neuron.fallback("error"):
        with pytest.raises(RuntimeError, match="airy_ai"):
            torch.special.airy_ai(x)
        with torch.neuron.fallback("silent"):
            torch.special.airy_ai(x)
        with pytest.raises(RuntimeError, match="airy_ai"):
            torch.special.airy_ai(x)
    with pytest.raises(ValueError, match="'warn', 'error', 'silent'"), torch.neuron.fallback("loud"):
        pass


def test_autocast_and_amp_dtypes():
    assert torch.neuron.get_amp_supported_dtype() == []
    assert torch.neuron.is_bf16_supported()


def test_autocast_says_that_it_is_off():
    x = torch.ones(2, 2, device="neuron")
    with pytest.warns(UserWarning, match="Disabling autocast"), torch.autocast("neuron", dtype=torch.bfloat16):
        assert (x @ x).dtype == torch.float32


def test_unknown_name_is_an_attribute_error():
    assert not hasattr(torch.neuron, "no_such_name")
