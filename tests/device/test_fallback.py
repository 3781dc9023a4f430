"""The CPU fallback: right, counted, loud, and forbidden on request."""

import re
import warnings

import pytest
import torch

_C = pytest.importorskip("opentrn._C")

# An operator without a lowering; when it gets one, take another.
MATRIX = torch.tensor([[4.0, 1.0], [1.0, 3.0]])


def cholesky(tensor):
    return torch.linalg.cholesky(tensor)


def test_result_equals_the_cpu_and_lives_on_the_device():
    with torch.neuron.fallback("silent"):
        result = cholesky(MATRIX.to("neuron"))
    assert result.device.type == "neuron"
    assert torch.equal(result.cpu(), cholesky(MATRIX))


def test_it_is_counted_with_line_bytes_and_reason():
    _C.clear_statistics()
    with torch.neuron.fallback("silent"):
        for _ in range(2):
            cholesky(MATRIX.to("neuron"))
    report = [entry for entry in torch.neuron.fallback_report() if "cholesky" in entry.operator]
    assert len(report) == 1
    assert report[0].calls == 2
    assert report[0].line.startswith("test_fallback.py:")
    assert report[0].bytes_to_host >= 2 * 16
    assert report[0].bytes_to_device >= 2 * 16
    assert report[0].reason
    assert any("cholesky" in name for name in torch.neuron.get_fallback_ops())


def test_it_warns_once_per_line():
    _C.clear_statistics()
    matrix = MATRIX.to("neuron")
    with torch.neuron.fallback("warn"), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            torch.linalg.cholesky(matrix)
        torch.linalg.cholesky(matrix)
    import opentrn._warning

    texts = [str(e.message) for e in seen if e.category is opentrn._warning.OpenTrnWarning]
    assert len(texts) == 2
    assert all(re.search(r"test_fallback\.py:\d+", text) for text in texts)


def test_strict_mode_raises_with_operator_reason_and_line():
    with torch.neuron.fallback("error"), pytest.raises(RuntimeError, match=r"cholesky.*forbids.*test_fallback\.py"):
        cholesky(MATRIX.to("neuron"))


def test_unknown_mode_lists_the_valid_ones():
    with pytest.raises(ValueError, match=r"(?s)warn.*error.*silent"), torch.neuron.fallback("loud"):
        pass


@pytest.mark.usefixtures("silent")
class TestAliasing:
    """What a copying fallback gets wrong."""

    @pytest.fixture
    def silent(self):
        with torch.neuron.fallback("silent"):
            yield

    def test_in_place_through_a_strided_view(self):
        values = torch.rand(4, 6) + 1
        device_values = values.to("neuron")
        values[:, ::2].igamma_(values[:, 1::2])
        device_values[:, ::2].igamma_(device_values[:, 1::2])
        assert torch.equal(device_values.cpu(), values)

    def test_out_is_written_and_resized(self):
        matrix = MATRIX.to("neuron")
        out = torch.zeros(2, 2, device="neuron")
        assert torch.linalg.cholesky(matrix, out=out) is out
        assert torch.equal(out.cpu(), cholesky(MATRIX))
        empty = torch.zeros(0, device="neuron")
        torch.linalg.cholesky(matrix, out=empty)
        assert torch.equal(empty.cpu(), cholesky(MATRIX))

    def test_mixed_devices_are_refused(self):
        with pytest.raises(RuntimeError, match="same device"):
            torch.ops.aten._cholesky_solve_helper(MATRIX.to("neuron"), MATRIX, False)

    def test_lists_go_there_and_back(self):
        matrix = MATRIX.to("neuron")
        expected = torch.linalg.svd(MATRIX)
        for actual, plain in zip(torch.linalg.svd(matrix), expected, strict=True):
            torch.testing.assert_close(actual.cpu(), plain)

    def test_outputs_that_were_empty_lie_as_on_the_cpu(self):
        symmetric = MATRIX @ MATRIX.t()
        for actual, plain in zip(torch.linalg.eigh(symmetric.to("neuron")), torch.linalg.eigh(symmetric), strict=True):
            assert actual.stride() == plain.stride()

    def test_draws_follow_the_device_generator(self):
        def draw():
            return torch.empty(5, device="neuron").geometric_(0.3).tolist()

        torch.manual_seed(3)
        first = draw()
        torch.manual_seed(3)
        assert draw() == first

    def test_gradients_flow(self):
        values = MATRIX.to("neuron").requires_grad_()
        cholesky(values).sum().backward()
        plain = MATRIX.clone().requires_grad_()
        cholesky(plain).sum().backward()
        torch.testing.assert_close(values.grad.cpu(), plain.grad)


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.sparse_coo_tensor([[0]], [1.0], (2,), device="neuron"),
        lambda: torch.ops.aten._cudnn_rnn(
            torch.ones(1, device="neuron"),
            [],
            0,
            None,
            torch.ones(1, device="neuron"),
            None,
            0,
            1,
            0,
            1,
            False,
            0.0,
            False,
            False,
            [],
            None,
        ),
    ],
    ids=["sparse", "cudnn"],
)
def test_what_can_run_nowhere_says_so(call):
    with pytest.raises(NotImplementedError) as caught:
        call()
    text = str(caught.value)
    assert "Could not run" not in text
    assert "CPU" in text and "[" in text
