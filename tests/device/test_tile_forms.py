"""The operators that many model families need run on tiles: none of their programs contains a library call."""

import pytest
import torch
import torch.nn.functional as F

from opentrn import _extension

ROWS, COLUMNS = 37, 130


def tensors(dtype: torch.dtype) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(ROWS, COLUMNS, generator=generator).mul(3).to(dtype).to("neuron")
    y = torch.randn(ROWS, COLUMNS, generator=generator).mul(3).to(dtype).to("neuron")
    index = torch.randint(ROWS, (9,), generator=generator).to("neuron")
    return {
        "x": x,
        "y": y,
        "index": index,
        "columns": torch.randint(COLUMNS, (ROWS, 5), generator=generator).to("neuron"),
    }


# Operators that at least 20 of 123 text-generation model types need, by the dtypes they need them in.
FLOAT = {
    "_log_softmax": lambda t: torch.log_softmax(t["x"], -1),
    "_log_softmax_backward_data": lambda t: torch._log_softmax_backward_data(t["x"], t["y"], -1, t["x"].dtype),
    "_softmax": lambda t: torch.softmax(t["x"], -1),
    "_softmax_backward_data": lambda t: torch._softmax_backward_data(t["x"], t["y"], -1, t["x"].dtype),
    "addcdiv": lambda t: torch.addcdiv(t["x"], t["x"], t["y"], value=0.5),
    "addcmul": lambda t: torch.addcmul(t["x"], t["x"], t["y"], value=0.5),
    "div": lambda t: t["x"] / t["y"],
    "lerp": lambda t: torch.lerp(t["x"], t["y"], 0.3),
    "mm": lambda t: t["x"] @ t["y"].t(),
    "bmm": lambda t: torch.bmm(t["x"][None], t["y"].t()[None]),
    "addmm": lambda t: torch.addmm(t["x"][:, :ROWS], t["x"], t["y"].t()),
    "sqrt": lambda t: torch.sqrt(t["x"]),
    "rsqrt": lambda t: torch.rsqrt(t["x"]),
    "cos": lambda t: torch.cos(t["x"]),
    "sin": lambda t: torch.sin(t["x"]),
    "exp": lambda t: torch.exp(t["x"]),
    "sigmoid": lambda t: torch.sigmoid(t["x"]),
    "sigmoid_backward": lambda t: torch.ops.aten.sigmoid_backward(t["x"], t["y"]),
    "silu": lambda t: F.silu(t["x"]),
    "gelu": lambda t: F.gelu(t["x"]),
    "gelu_tanh": lambda t: F.gelu(t["x"], approximate="tanh"),
    "gelu_backward": lambda t: torch.ops.aten.gelu_backward(t["x"], t["y"]),
    "mean": lambda t: t["x"].mean(-1),
    "pow": lambda t: t["x"].pow(2),
    "isneginf": lambda t: torch.isneginf(t["x"]),
    "native_layer_norm": lambda t: F.layer_norm(t["x"], (COLUMNS,), t["x"][0], t["y"][0]),
    "native_batch_norm": lambda t: F.batch_norm(t["x"], t["x"][0].clone(), t["y"][0].abs(), training=True),
    "native_dropout_backward": lambda t: torch.ops.aten.native_dropout_backward(t["x"], t["y"] > 0, 2.0),
    "nll_loss_forward": lambda t: F.nll_loss(t["x"], t["columns"][:, 0]),
}
ANY = {
    "add": lambda t: t["x"] + t["y"],
    "sub": lambda t: t["x"] - t["y"],
    "mul": lambda t: t["x"] * t["y"],
    "neg": lambda t: -t["x"],
    "eq": lambda t: t["x"] == 1,
    "ne": lambda t: t["x"] != t["y"],
    "le": lambda t: t["x"] <= t["y"],
    "lt": lambda t: t["x"] < t["y"],
    "gt": lambda t: t["x"] > t["y"],
    "ge": lambda t: t["x"] >= 1,
    "argmax": lambda t: t["x"].argmax(-1),
    "max": lambda t: t["x"].max(),
    "sum": lambda t: t["x"].sum(-1),
    "sum of columns": lambda t: t["x"].sum(0),
    "cat": lambda t: torch.cat((t["x"], t["y"])),
    "cumsum": lambda t: t["x"].cumsum(-1),
    "fill_": lambda t: t["x"].clone().fill_(3),
    "zero_": lambda t: t["x"].clone().zero_(),
    "index_select": lambda t: t["x"].index_select(0, t["index"]),
    "index": lambda t: t["x"][t["index"]],
    "index_copy": lambda t: t["x"].index_copy(0, t["index"][:1], t["y"][:1]),
    "_index_put_impl_": lambda t: t["x"].clone().index_put_((t["index"],), t["y"][:9]),
    "index_add": lambda t: t["x"].index_add(0, t["index"], t["y"][:9]),
    "gather": lambda t: t["x"].gather(1, t["columns"]),
    "scatter.src": lambda t: t["x"].scatter(1, t["columns"], t["y"]),
    "scatter.value": lambda t: t["x"].scatter(1, t["columns"], 2),
    "scatter_add": lambda t: t["x"].scatter_add(1, t["columns"], t["y"]),
    "masked_fill_": lambda t: t["x"].clone().masked_fill_(t["y"] > 0, 1),
    "where": lambda t: torch.where(t["x"] > 0, t["x"], t["y"]),
    "tril": lambda t: t["x"].tril(),
    "roll": lambda t: t["x"].roll(3, 1),
    "arange": lambda t: torch.arange(3, 300, device="neuron", dtype=t["x"].dtype),
    "copy": lambda t: t["x"].t().contiguous(),
    "copy with a cast": lambda t: t["x"].to(torch.float16),
}
INTEGER = {
    "floor_divide": lambda t: t["x"] // (t["y"].abs() + 1),
    "isin": lambda t: torch.isin(t["x"], t["index"][:2].to(t["x"].dtype)),
    "embedding": lambda t: F.embedding(t["index"], torch.ones(ROWS, 16, device="neuron")),
    "embedding_dense_backward": lambda t: torch.ops.aten.embedding_dense_backward(
        torch.ones(9, 16, device="neuron"), t["index"], ROWS, -1, False
    ),
}
LOGIC = {
    "any": lambda t: (t["x"] > 0).any(),
    "any.dim": lambda t: (t["x"] > 0).any(-1),
    "all": lambda t: (t["x"] > 0).all(),
    "all.dim": lambda t: (t["x"] > 0).all(-1),
    "bitwise_and": lambda t: (t["x"] > 0) & (t["y"] > 0),
    "bitwise_or": lambda t: (t["x"] > 0) | (t["y"] > 0),
    "bitwise_not": lambda t: ~(t["x"] > 0),
    "cumsum of bool": lambda t: (t["x"] > 0).cumsum(-1),
}
CASES = [
    *[(name, call, dtype) for name, call in FLOAT.items() for dtype in (torch.float32, torch.bfloat16)],
    *[(name, call, dtype) for name, call in ANY.items() for dtype in (torch.float32, torch.bfloat16, torch.int64)],
    *[(name, call, torch.int64) for name, call in INTEGER.items()],
    *[(name, call, torch.float32) for name, call in LOGIC.items()],
]


@pytest.mark.parametrize(("name", "call", "dtype"), CASES, ids=[f"{name}-{dtype}" for name, _, dtype in CASES])
def test_no_library_call(name, call, dtype):
    if _extension.native.engine_name() != "core":
        pytest.skip("only the engine `core` has tile forms (docs/architecture.md)")
    operands = tensors(dtype)
    _extension.native.clear_statistics()
    call(operands)
    torch.neuron.synchronize()
    statistics = _extension.native.statistics()
    assert not statistics["fallbacks"]
    assert statistics["programs"]["compiled"] >= 1  # notes are taken when a program is compiled
    assert [note for note in statistics["notes"] if note["kind"] == "library call"] == []
