"""Every operator of PyTorch's own test database keeps its class: see harness.py, and outcomes.py for the record."""

import harness
import outcomes
import pytest

OPERATORS = harness.operators()
RECORD = outcomes.read()


@pytest.mark.parametrize("name", OPERATORS)
def test_operator(name):
    op = OPERATORS[name]
    found = {test: harness.run_test(op, dtype, backward) for test, dtype, backward in harness.tests_of(op)}
    recorded = RECORD.get(name, {})
    changed = {
        test: f"{outcome.kind} ({outcome.detail}), recorded is {recorded.get(test, 'nothing')}"
        for test, outcome in found.items()
        if outcome.kind != recorded.get(test)
    }
    assert not changed, f"{name}: {changed}; if this is meant, run `python tests/opinfo/outcomes.py`"


def test_record_is_of_operators_that_exist():
    assert set(RECORD) <= set(OPERATORS)
