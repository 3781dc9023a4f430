"""The summary shows what was measured and nothing else."""

import copy

import pytest

from opentrn import demo, report

STATISTICS = {
    "operators": [
        {"name": "aten::mm", "calls": 1234, "engine_ms": 120.0},
        {"name": "aten::add.Tensor", "calls": 4321, "engine_ms": 0.4},
        {"name": "aten::view", "calls": 9, "engine_ms": 0.0},
    ],
    "fallbacks": [],
    "transfers": {
        "host_to_device": {"bytes": 3 * 2**20, "count": 272, "milliseconds": 30.0},
        "device_to_host": {"bytes": 512, "count": 64, "milliseconds": 0.5},
    },
    "synchronisations": [
        {"line": "chat.py:31", "kind": "item", "count": 64, "milliseconds": 1.5},
        {"line": "chat.py:31", "kind": "copy to host", "count": 2, "milliseconds": 0.5},
        {"line": "chat.py:40", "kind": "synchronize", "count": 1, "milliseconds": 0.1},
    ],
    "notes": [
        {"operator": "aten::sort", "kind": "library call", "what": "stablehlo.sort", "programs": 2},
        {"operator": "aten::add.Tensor", "kind": "no native unit", "what": "int64 tensor_tensor", "programs": 1},
    ],
    "programs": {"compiled": 10, "cache_hits": 90, "milliseconds": 40.0},
    "memory": {"peak_allocated": 612 * 2**20, "allocated": 0, "total": 24 * 2**30},
    "milliseconds": {"engine": 120.0, "compile": 40.0, "transfer": 30.0, "fallback": 0.0},
}


def rows_of(**changes) -> dict[str, str]:
    facts = {
        "target": "trn2",
        "engine": "reference",
        "unavailable": None,
        "statistics": copy.deepcopy(STATISTICS),
        "wall_milliseconds": 400.0,
        **changes,
    }
    return dict(report.rows(facts))


def test_every_row():
    rows = rows_of()
    assert rows["Device"] == "neuron as trn2, engine reference"
    assert rows["Operators"] == (
        "5,564 calls of 3 operators ran natively\n"
        "most engine time: aten::mm 120.0 ms (1,234), aten::add.Tensor 400 us (4,321)"
    )
    assert rows["Fallbacks"] == "none"
    assert rows["Transfers"] == "host to device 3.0 MiB in 272; device to host 512 B in 64"
    assert rows["Synchronisations"].splitlines() == [
        "67 from 2 lines",
        "chat.py:31: 66 (copy to host, item), 2.0 ms",
        "chat.py:40: 1 (synchronize), 100 us",
    ]
    assert rows["Programs"] == "10 compiled in 40.0 ms, 90 cache hits (90.0%)"
    assert rows["Library calls"] == "stablehlo.sort (aten::sort)"
    assert rows["No native unit"] == "int64 tensor_tensor (aten::add.Tensor)"
    assert rows["Device memory"] == "peak 612.0 MiB of 24.0 GiB, 0 B at the end"
    assert rows["Wall time"] == (
        "engine 120.0 ms (30%), compile 40.0 ms (10%), transfer 30.0 ms (8%), fallback 0.0 ms (0%), "
        "Python and everything else 210.0 ms (52%)"
    )


def test_more_work_than_wall_time_shows_no_shares():
    text = rows_of(wall_milliseconds=100.0)["Wall time"]
    assert "%" not in text
    assert "summed over threads" in text


def test_fallbacks_are_listed_costliest_first():
    statistics = copy.deepcopy(STATISTICS)
    statistics["fallbacks"] = [
        {
            "operator": f"aten::op{index}",
            "reason": "no lowering",
            "line": f"x.py:{index}",
            "calls": 2,
            "bytes_to_host": 1024,
            "bytes_to_device": 1024,
            "milliseconds": float(index),
        }
        for index in range(8)
    ]
    lines = rows_of(statistics=statistics)["Fallbacks"].splitlines()
    assert lines[0] == "16 calls ran on the CPU, 28.0 ms"
    assert lines[1] == "aten::op7 at x.py:7: 2 calls, 7.0 ms, 2.0 KiB moved, no lowering"
    assert lines[-1] == "and 3 more in the report"


@pytest.mark.parametrize(("milliseconds", "text"), [(0, "0.0 ms"), (0.012, "12 us"), (3.44, "3.4 ms"), (5600, "5.6 s")])
def test_duration(milliseconds, text):
    assert report.duration(milliseconds) == text


def test_demo_names_the_first_different_token():
    same = {"tokens": [1, 2, 3], "tokens_per_second": 4.0}
    other = {"tokens": [1, 9, 3], "tokens_per_second": 8.0}
    equal, lines = demo.compare(same, {**same, "tokens_per_second": 8.0})
    assert equal
    assert lines[0] == "Tokens: all 3 are equal"
    assert "0.50 times" in lines[1]
    equal, lines = demo.compare(same, other)
    assert not equal
    assert "DIFFERENT from token 2 on" in lines[0]
