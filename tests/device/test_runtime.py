"""torch.neuron and torch.accelerator: devices, streams, events, memory, synchronisation."""

import pytest
import torch

_C = pytest.importorskip("opentrn._C")
pytestmark = pytest.mark.usefixtures("strict")


def test_the_accelerator_is_this_device():
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator().type == "neuron"
    assert torch.accelerator.device_count() == torch.neuron.device_count() == 1
    torch.accelerator.synchronize()
    assert torch.accelerator.current_device_index() == 0
    assert torch.neuron.is_available()
    assert torch.neuron.current_device() == 0


def test_streams_order_and_events():
    stream = torch.Stream(device="neuron")
    start, end = torch.Event(device="neuron", enable_timing=True), torch.Event(device="neuron", enable_timing=True)
    start.record()
    with stream:
        assert torch.accelerator.current_stream() == stream
        result = torch.ones(100, device="neuron") + 1
    stream.synchronize()
    end.record()
    end.synchronize()
    assert end.query() and stream.query()
    assert start.elapsed_time(end) >= 0
    torch.accelerator.current_stream().wait_event(end)
    torch.accelerator.current_stream().wait_stream(stream)
    assert result.sum().item() == 200
    result.record_stream(stream)


def test_neuron_streams_subclass_torchs():
    stream = torch.neuron.Stream()
    assert isinstance(stream, torch.Stream)
    with torch.neuron.stream(stream):
        assert torch.neuron.current_stream().stream_id == stream.stream_id
    event = torch.neuron.Event(enable_timing=True)
    assert isinstance(event, torch.Event)
    event.record()
    assert event.query()


def test_elapsed_time_needs_records():
    first, second = torch.Event(device="neuron", enable_timing=True), torch.Event(device="neuron", enable_timing=True)
    with pytest.raises((RuntimeError, ValueError), match=r"(?i)recorded"):
        first.elapsed_time(second)


def test_memory_is_counted():
    torch.neuron.empty_cache()
    before = torch.neuron.memory_allocated()
    block = torch.empty(1 << 20, device="neuron")
    assert torch.neuron.memory_allocated() - before >= 4 << 20
    assert torch.accelerator.memory_allocated() == torch.neuron.memory_allocated()
    assert torch.neuron.max_memory_allocated() >= torch.neuron.memory_allocated()
    del block
    assert torch.neuron.memory_allocated() == before
    free, total = torch.neuron.mem_get_info()
    assert 0 < free <= total
    torch.accelerator.empty_cache()
    assert "allocated_bytes.all.current" in torch.neuron.memory_stats()


def test_synchronisations_carry_the_users_line():
    _C.clear_statistics()
    torch.ones(2, device="neuron").sum().item()
    lines = _C.statistics()["synchronisations"]
    assert [entry["kind"] for entry in lines] == ["item"]
    assert lines[0]["line"].startswith("test_runtime.py:")


def test_default_device_and_context():
    with torch.device("neuron"):
        assert torch.zeros(2).device.type == "neuron"
    with torch.neuron.device(0):
        assert torch.neuron.current_device() == 0
