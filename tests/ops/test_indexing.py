"""Reading and writing by index, gather and scatter, embedding, masks."""

import pytest
import torch
from differential import ALL, FLOATS, Pair, check, check_in_place, check_out, layouts, pair, values

LAYOUTS = layouts()[:5]
LOOSE = {
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (5e-2, 5e-2),
    torch.float32: (1e-5, 1e-5),
    torch.complex64: (1e-5, 1e-5),
}

I = torch.tensor  # noqa: E741


def both(tensor: torch.Tensor) -> Pair:
    device = tensor.to("neuron")
    return Pair(tensor, device, tensor, device)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_reading(layout, dtype):
    self = pair(layout, dtype)
    for index_dtype in (torch.int64, torch.int32):
        index = I([2, 0, 0, 1], dtype=index_dtype)
        for dim in (0, 1, -1):
            check(lambda x, i, dim=dim: x.index_select(dim, i), self, index, message=f"index_select {dim}")
            elements = torch.randint(0, 3, (3, 2, 4), generator=torch.Generator().manual_seed(dim + 7)).to(index_dtype)
            check(lambda x, i, dim=dim: x.gather(dim, i), self, elements, message=f"gather {dim}")
    check(torch.take, self, I([[0, -1], [5, 7], [1, 1]]).t())
    check_out(lambda x, i, **out: torch.index_select(x, 1, i, **out), self, both(I([2, 0, 0, 1])))
    check_out(lambda x, i, **out: torch.gather(x, 0, i, **out), self, both(torch.zeros(2, 3, 5, dtype=torch.int64)))


ROW, GRID = I([0, -1, 2]), I([[0, 1], [2, 2]])
INDEX_LISTS = {
    "first": (ROW,),
    "second": (slice(None), ROW),
    "last": (..., ROW),
    "neighbours": (slice(None), ROW, ROW),
    "apart": (ROW, slice(None), ROW),
    "all": (ROW, ROW, ROW),
    "grid": (slice(None), GRID),
    "transposed grid": (GRID.t(),),
    "broadcast": (GRID[:, :1], slice(None), GRID[:1]),
    "mixed types": (ROW.int(), ROW),
    "number": (ROW, 1),
    "none": (None, ROW),
    "empty": (ROW[:0],),
    "scalar": (I(1), slice(None), ROW),
    "mask": (I([True, False, True, True]),),
    "mask of two": (I([[True, False, True]] * 4),),
    "mask of nothing": (slice(None), torch.zeros(3, dtype=torch.bool)),
    "mask and index": (I([True, False, True, True]), slice(None), ROW),
}


def on_device(index):
    return tuple(entry.to("neuron") if isinstance(entry, torch.Tensor) else entry for entry in index)


@pytest.mark.parametrize("name", INDEX_LISTS)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_advanced_indexing(layout, name):
    index = INDEX_LISTS[name]
    for dtype in (torch.float32, torch.int64, torch.bfloat16, torch.bool):
        self = pair(layout, dtype)
        check(lambda x: x[index if x.is_cpu else on_device(index)], self, message=str(dtype))
        check(lambda x: x[index], self, message=f"{dtype}, indices on the CPU")


@pytest.mark.parametrize("name", INDEX_LISTS)
@pytest.mark.parametrize("layout", LAYOUTS[:4], ids=lambda layout: layout.name)
def test_advanced_assignment(layout, name):
    index = INDEX_LISTS[name]
    if name == "transposed grid" or "grid" in name:
        index = tuple(I([[0, 1], [2, -1]]) if entry is GRID else entry for entry in index)
    for dtype in (torch.float32, torch.int64, torch.bfloat16, torch.bool):
        self = pair(layout, dtype)
        source = values(self.cpu[index].shape, dtype, seed=3)

        def assign(x, source=source):
            x[index if x.is_cpu else on_device(index)] = source.to(x.device)

        check_in_place(assign, self, message=str(dtype))


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("layout", LAYOUTS[:4], ids=lambda layout: layout.name)
def test_index_put(layout, dtype):
    def case():
        return pair(layout, dtype, "finite")

    rows = values((3, 3, 5), dtype, "finite", 1)
    for accumulate in (False, True):
        index = I([0, 2, 2]) if accumulate else I([0, 2, -1])
        check_in_place(
            lambda x, i, v, a=accumulate: x.index_put_((i,), v, a), case(), both(index), both(rows), tolerance=LOOSE
        )
        check(lambda x, i, v, a=accumulate: x.index_put((i,), v, a), case(), index, rows[0, 0], tolerance=LOOSE)
        check(
            lambda x, i, v, a=accumulate: x.put(i, v, a),
            case(),
            I([3, -1, 3] if accumulate else [3, -1, 0]),
            rows[0, 0, :3],
            tolerance=LOOSE,
        )


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("layout", LAYOUTS[:4], ids=lambda layout: layout.name)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_slices(layout, dtype, dim):
    def case():
        return pair(layout, dtype, "finite")

    shape = list(case().cpu.shape)
    shape[dim] = 2
    source = both(values(tuple(shape), dtype, "finite", 1))
    apart, repeated = both(I([2, 0])), both(I([1, 1]))
    alpha = True if dtype == torch.bool else 2
    check_in_place(lambda x, i, s: x.index_copy_(dim, i, s), case(), apart, source)
    check_in_place(lambda x, i, s: x.index_add_(dim, i, s, alpha=alpha), case(), repeated, source, tolerance=LOOSE)
    check_in_place(lambda x, i: x.index_fill_(dim, i, 1), case(), both(I([-1, 0])))
    check(lambda x, i, s: x.index_copy(dim, i, s), case(), apart, source)
    check(lambda x, i, s: x.index_add(dim, i, s), case(), both(I([1, 0]).int()), source, tolerance=LOOSE)
    check(lambda x, i, v: x.index_fill(dim, i, v), case(), apart, I(1))
    check_out(lambda x, i, s, **out: torch.index_copy(x, dim, i, s, **out), case(), apart, source)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("layout", LAYOUTS[:4], ids=lambda layout: layout.name)
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_scatter(layout, dtype, dim):
    def case():
        return pair(layout, dtype, "finite")

    small = torch.zeros(2, 2, 2, dtype=torch.int64)
    small.select(dim, 1).fill_(2)
    wide = torch.randint(0, 2, (3, 3, 3), generator=torch.Generator().manual_seed(3))
    src = both(values((3, 3, 3), dtype, "finite", 1))
    check_in_place(lambda x, i, s: x.scatter_(dim, i, s), case(), both(small), src)
    check_in_place(lambda x, i: x.scatter_(dim, i, 1), case(), both(small.int()))
    check_in_place(lambda x, i, s: x.scatter_add_(dim, i, s), case(), both(wide), src, tolerance=LOOSE)
    check(lambda x, i, s: x.scatter(dim, i, s), case(), small, src)
    check(lambda x, i, s: x.scatter(dim, i, s), case(), small[:0], src)
    check(lambda x, i, s: x.scatter(dim, i, s, reduce="add"), case(), small, src, tolerance=LOOSE)
    check(lambda x, i: x.scatter(dim, i, 2, reduce="multiply"), case(), small, tolerance=LOOSE)
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for include_self in (True, False):
            check(
                lambda x, i, s, reduce=reduce, include=include_self: x.scatter_reduce(
                    dim, i, s, reduce, include_self=include
                ),
                case(),
                wide,
                src,
                tolerance=LOOSE,
                message=f"{reduce} {include_self}",
            )


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("layout", LAYOUTS[:4], ids=lambda layout: layout.name)
def test_index_reduce(layout, dtype):
    for dim in (0, 1, -1):
        self = pair(layout, dtype, "finite")
        shape = list(self.cpu.shape)
        shape[dim] = 3
        source = values(tuple(shape), dtype, "finite", 1)
        for reduce in ("prod", "mean", "amax", "amin", "sum"):
            for include in (True, False):
                for index in (I([1, 0, 1]), I([0, 2, 1]).int()):
                    check(
                        lambda x, i, s, d=dim, r=reduce, k=include: x.index_reduce(d, i, s, r, include_self=k),
                        self,
                        index,
                        source,
                        tolerance=LOOSE,
                        message=f"{reduce} {include} {dim}",
                    )


@pytest.mark.filterwarnings("ignore")
def test_index_reduce_edges():
    x = torch.ones(3, 2)

    def call(x, index, source, dim=0):
        return x.index_reduce(dim, index, source, "prod")

    for index, source in (
        (I([0, 5]), x[:2]),
        (I([0, -1]), x[:2]),
        (I([0, 1]), x[:2].double()),
        (I([0, 1]).short(), x[:2]),
        (I([[0, 1]]), x[:2]),
        (I([0, 1, 1]), x[:2]),
        (I([0, 1]), x[:2, :1]),
        (I([0, 1]), x[:2, 0]),
        (I([], dtype=torch.int64), x[:0]),
    ):
        check(call, x, index, source)
    check(call, x[0, 0], I([0]), I([2.0]))
    check(call, x[0, 0], I(0), I(2.0))
    check(call, x[:, 0], I([0, 5]), x[:2, 0])
    check(lambda x, i: call(x, i, x, 2), x, I([0]))
    for reduce in ("prod", "mean", "amax", "amin"):
        check(
            lambda x, i, s, r=reduce: x.index_reduce(0, i, s, r),
            I([1.0, float("nan"), 3]),
            I([0, 0, 1]),
            I([float("nan"), 1.0, 2.0]),
        )


def test_scatter_reduce_with_nan():
    nan = float("nan")
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        check(
            lambda x, i, s, r=reduce: x.scatter_reduce(0, i, s, r),
            I([1.0, nan, 3]),
            I([0, 0, 1, 2]),
            I([nan, 1.0, 2.0, 5.0]),
        )


@pytest.mark.parametrize("dtype", FLOATS)
def test_embedding(dtype):
    weight = values((7, 4), dtype)
    for indices in (I([1, 2, 6]), I([[1, 2], [0, 0]]), I(3), I([], dtype=torch.int64), I([1, 2]).int()):
        check(torch.nn.functional.embedding, indices, weight)
        check(torch.nn.functional.embedding, indices, values((4, 7), dtype).t())
    for padding in (-1, 0, 2):
        for by_frequency in (False, True):
            check(
                lambda g, i, p=padding, f=by_frequency: torch.ops.aten.embedding_dense_backward(g, i, 7, p, f),
                values((2, 3, 4), dtype, "finite"),
                I([[0, 1, 1], [2, 0, 1]]),
                tolerance=LOOSE,
            )


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("layout", layouts((4, 5))[:4], ids=lambda layout: layout.name)
def test_masked_scatter(layout, dtype):
    mask = values((4, 5), torch.bool)
    source = values((5, 4), dtype, seed=2).t()
    check(torch.masked_scatter, pair(layout, dtype), mask, source)
    check(torch.masked_scatter, pair(layout, dtype), mask[:1], source)
    check_in_place(lambda x, m, s: x.masked_scatter_(m, s), pair(layout, dtype), both(mask), both(source))
    check(torch.masked_select, pair(layout, dtype), mask)
    check(torch.nonzero, pair(layout, dtype))


def test_nonzero_of_all_ranks():
    for shape in ((), (0,), (3, 0), (6,), (2, 3, 4, 5)):
        check(torch.nonzero, values(shape, torch.bool), strides=False)
        check(torch.nonzero, torch.zeros(shape), strides=False)


def test_scalars_and_overlapping_copies():
    check(lambda x, i: x.index_select(0, i), I(3.0), I([0]))
    check(lambda x, i: x.gather(0, i), I(3.0), I([0]))
    check(lambda x, i: x.gather(0, i), I([3.0]), I(0))
    check(lambda x, i, s: x.scatter(0, i, s), I(1.0), I(0), I(5.0))
    check(lambda x, i, s: x.index_copy(0, i, s), I(1.0), I([0]), I(5.0))
    check(lambda x, i, s: x.index_add(0, i, s), I(1.0), I([0]), I(5.0))
    check(lambda x, to, of: x.index_copy_(0, to, x.index_select(0, of)), torch.arange(4.0), I([1, 2, 3]), I([0, 1, 2]))


X = torch.arange(6.0).view(2, 3)


@pytest.mark.parametrize("index", [7, -1, -3])
@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: x.index_select(0, i),
        lambda x, i: x[0].index_select(0, i),
        lambda x, i: torch.nn.functional.embedding(i, x),
        lambda x, i: x.gather(0, i[None]),
        lambda x, i: x.scatter(0, i[None], 1.0),
        lambda x, i: x.scatter_add(0, i[None], x),
        lambda x, i: x.scatter_reduce(0, i[None], x, "amax"),
        lambda x, i: x.index_add(0, i, x[:1]),
        lambda x, i: x[0].index_add(0, i, x[0, :1]),
        lambda x, i: x.index_copy(0, i, x[:1]),
        lambda x, i: x.index_fill(0, i, 1.0),
        lambda x, i: x.take(i),
        lambda x, i: x.put(i, x[0, :1]),
        lambda x, i: x[i],
        lambda x, i: x.index_put((i,), x[0]),
    ],
)
def test_indices_out_of_range(call, index):
    check(call, X, I([index]))


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.float32])
@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: x.index_select(0, i),
        lambda x, i: torch.nn.functional.embedding(i, x),
        lambda x, i: x.gather(0, i[None]),
        lambda x, i: x.scatter(0, i[None], 1.0),
        lambda x, i: x.index_add(0, i, x[:1]),
        lambda x, i: x.index_copy(0, i, x[:1]),
        lambda x, i: x.index_fill(0, i, 1.0),
        lambda x, i: x.take(i),
        lambda x, i: x[i],
    ],
)
def test_index_types(call, dtype):
    check(call, X, torch.zeros(1, dtype=dtype))


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (lambda x, i, j: x[i, j], (X, I([0, 1]), I([0, 1, 2]))),
        (lambda x, i: torch.ops.aten.index(x, [i, i, i]), (X, I([0]))),
        (lambda x, i: x[i], (X[:0], I([0]))),
        (lambda x, i: x[i], (X[:, :0], I([7]))),
        (lambda x, i, v: x.index_put((i,), v), (X, I([0, 1]), torch.ones(4))),
        (lambda x, i, v: x.index_put((i,), v), (X, I([0]), I([1]))),
        (lambda x, i: x.index_select(0, i), (X, I([[0]]))),
        (lambda x, i: x.index_select(2, i), (X, I([0]))),
        (lambda x, i: torch.nn.functional.embedding(i, x), (X[0], I([0]))),
        (lambda x, i: x.take(i), (X[:0], I([0]))),
        (lambda x, i, s: x.put(i, s), (X, I([0, 1]), torch.ones(1))),
        (lambda x, i, s: x.index_copy(0, i, s), (X, I([0, 1]), torch.ones(1, 3))),
        (lambda x, i, s: x.index_copy(0, i, s), (X, I([0]), torch.ones(1, 4))),
        (lambda x, i, s: x.index_copy(0, i, s), (X, I([0]), torch.ones(3))),
        (lambda x, i, s: x.index_add(0, i, s), (X, I([0, 1]), torch.ones(1, 3))),
        (lambda x, i, s: x.index_add(0, i, s), (X, I([0]), torch.ones(1, 4))),
        (lambda x, i, s: x.index_add(0, i, s), (X, I([0]), torch.ones(1, 3).long())),
        (lambda x, i: x.index_fill(0, i, 1j), (X, I([0]))),
        (lambda x, i: x.index_fill(0, i, 300), (X.to(torch.int8), I([0]))),
        (lambda x, i: x.gather(0, i), (X, I([0]))),
        (lambda x, i: x.gather(0, i), (X, torch.zeros(1, 4, dtype=torch.int64))),
        (lambda x, i, s: x.scatter(0, i, s), (X, torch.zeros(2, 3, dtype=torch.int64), torch.ones(1, 3))),
        (lambda x, i, s: x.scatter(0, i, s), (X, I([[0]]), X.long())),
        (lambda x, i, s: x.scatter_reduce(0, i, s, "median"), (X, I([[0]]), X)),
        (lambda x, m, s: x.masked_scatter(m, s), (X, X > -1, torch.ones(2))),
        (lambda x, m, s: x.masked_scatter(m, s), (X, X > -1, X.long())),
    ],
)
def test_errors(call, arguments):
    check(call, *arguments)


def test_assigning_to_selected_elements_changes_the_base():
    for device in ("cpu", "neuron"):
        x = torch.ones(3, device=device)
        x[1].zero_()
        assert x.tolist() == [1, 0, 1]
        cache = torch.zeros(6, 2, 2, device=device)
        cache.view(6, 4).index_copy_(0, I([1, 4]).to(device), torch.ones(2, 4, device=device))
        assert cache.sum((1, 2)).tolist() == [0, 4, 0, 0, 4, 0]


def test_masked_select_of_numbers():
    for mask in (True, False):
        check(torch.masked_select, torch.tensor(2.5), torch.tensor(mask))
        check(torch.masked_select, torch.tensor(2.5), torch.tensor([mask, True]))
