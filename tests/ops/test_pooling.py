"""Pooling over windows and to a size, forward and backward, and the inverse of max pooling."""

import itertools

import pytest
import torch
from differential import FLOATS, check, layouts, pair, values
from torch.nn import functional

aten = torch.ops.aten
NAN, INFINITY = float("nan"), float("inf")
# The CPU adds up gradients of 16-bit floats in 16 bits.
TOLERANCE = {
    torch.float32: (2e-6, 1e-6),
    torch.float64: (1e-13, 1e-13),
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (6e-2, 6e-2),
}
WINDOWS = [  # kernel, stride, padding
    ([2], [], [0]),
    ([3, 2], [2, 1], [1, 0]),
    ([3], [2], [1]),
    ([2], [3], [1]),
    ([3], [3], [0]),
    ([1], [2], [0]),
    ([4, 5], [1], [2, 1]),
]
SIZES = [(1, 1), (3, 3), (7, 9), (2, 5), (4, 3), (10, 4)]


def gradients(call, *tensors):
    leaves = [tensor.detach().requires_grad_() for tensor in tensors]
    result = call(*leaves)
    weights = torch.linspace(-1, 1, result.numel()).to(result.device, result.dtype).reshape(result.shape)
    (result * weights).sum().backward()
    return [leaf.grad for leaf in leaves]


def image_layouts(spatial=2):
    shape = (2, 3, 7, 9) if spatial == 2 else (2, 3, 4, 6, 5)
    last = torch.channels_last if spatial == 2 else torch.channels_last_3d
    x = values(shape, torch.float64, "special", 1)
    yield "contiguous", x
    yield "channels last", x.contiguous(memory_format=last)
    yield "transposed", values((*shape[:-2], shape[-1], shape[-2]), torch.float64, "special", 1).transpose(-1, -2)
    yield "unbatched", x[1]
    yield "expanded", x[:1].expand(shape)
    yield "no batch", x[:0]


def windows(spatial):
    for kernel, stride, padding in WINDOWS:
        if spatial == 3 and len(kernel) == 2:
            kernel, stride, padding = [2, *kernel], [1, *stride] if len(stride) == 2 else stride, [1, 1, 0]
        yield kernel, stride, padding


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64], ids=str)
def test_avg_pool2d(dtype):
    for (name, x), (kernel, stride, padding) in itertools.product(image_layouts(), windows(2)):
        for ceil, include, divisor in ((False, True, None), (True, True, None), (True, False, None), (False, False, 5)):
            check(
                lambda x, *a: aten.avg_pool2d(x, *a),
                x.nan_to_num(0, 3, -3).to(dtype),
                kernel,
                stride,
                padding,
                ceil,
                include,
                divisor,
                message=f"{name}, {kernel}, {stride}, {padding}, {ceil}, {include}",
                tolerance=TOLERANCE,
            )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bfloat16], ids=str)
def test_avg_pool3d(dtype):
    for (name, x), (kernel, stride, padding) in itertools.product(image_layouts(3), windows(3)):
        for ceil, include, divisor in ((False, True, None), (True, False, None), (False, False, -5)):
            check(
                lambda x, *a: aten.avg_pool3d(x, *a),
                x.nan_to_num(0, 3, -3).to(dtype),
                kernel,
                stride,
                padding,
                ceil,
                include,
                divisor,
                message=f"{name}, {kernel}, {stride}, {padding}, {ceil}, {include}",
                tolerance=TOLERANCE,
            )


def test_means_of_special_values():
    for _, x in image_layouts():
        check(lambda x: functional.avg_pool2d(x, 3, 2, 1), x.float(), tolerance=TOLERANCE)
        check(lambda x: functional.adaptive_avg_pool2d(x, (3, 4)), x.float(), tolerance=TOLERANCE)


def test_large_windows():
    x = values((2, 40, 50), torch.float32, "finite")
    check(lambda x: functional.avg_pool2d(x, 20, 10), x, tolerance={torch.float32: (1e-5, 1e-5)})
    check(lambda x: functional.max_pool2d(x, 20, 10, return_indices=True), x)
    check(lambda x: functional.adaptive_avg_pool2d(x, (3, 7)), x, tolerance={torch.float32: (1e-5, 1e-5)})


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64], ids=str)
def test_avg_pool_backward(dtype):
    for (name, x), (kernel, stride, padding) in itertools.product(image_layouts(), windows(2)):
        x = x.nan_to_num(0, 3, -3).to(dtype)
        for ceil, include, divisor in ((False, True, None), (True, False, None), (False, False, 5)):
            arguments = (kernel, stride, padding, ceil, include, divisor)
            shape = aten.avg_pool2d(x.double(), *arguments).shape
            check(
                lambda g, x, a=arguments: aten.avg_pool2d_backward(g, x, *a),
                values(shape, dtype, "finite"),
                x,
                message=f"{name}, {arguments}",
                tolerance=TOLERANCE,
            )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_avg_pool3d_gradients(dtype):
    for (name, x), (kernel, stride, padding) in itertools.product(image_layouts(3), windows(3)):
        check(
            lambda x, k=kernel, s=stride, p=padding: gradients(lambda x: aten.avg_pool3d(x, k, s, p, True, False), x),
            x.nan_to_num(0, 3, -3).to(dtype),
            message=f"{name}, {kernel}, {stride}, {padding}",
            tolerance=TOLERANCE,
        )


def maximum_pool(spatial):
    return aten.max_pool2d_with_indices if spatial == 2 else aten.max_pool3d_with_indices


@pytest.mark.parametrize("spatial", [2, 3])
@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8], ids=str)
def test_max_pool(dtype, spatial):
    for (name, x), (kernel, stride, padding) in itertools.product(image_layouts(spatial), windows(spatial)):
        x = x if dtype.is_floating_point else x.nan_to_num(0, 3, -3)
        if dtype == torch.uint8:  # without 0, for which the CPU's channels-last kernel names places outside the window
            x = x.abs() + 1
        for dilation, ceil in (([1], False), ([2], True), ([1], True)):
            check(
                lambda x, *a: maximum_pool(spatial)(x, *a),
                x.to(dtype),
                kernel,
                stride,
                padding,
                dilation,
                ceil,
                message=f"{name}, {kernel}, {stride}, {padding}, {dilation}, {ceil}",
            )


@pytest.mark.parametrize("spatial", [2, 3])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_max_pool_gradients(dtype, spatial):
    for (name, x), (kernel, stride, padding) in itertools.product(image_layouts(spatial), windows(spatial)):
        if x.numel() == 0:
            continue
        check(
            lambda x, k=kernel, s=stride, p=padding: gradients(lambda x: maximum_pool(spatial)(x, k, s, p)[0], x),
            x.to(dtype),
            message=f"{name}, {kernel}, {stride}, {padding}",
            tolerance=TOLERANCE,
        )


def test_which_maximum():
    plane = torch.tensor([[1.0, NAN, 2, NAN], [0, NAN, 1, 1], [3, 3, 3, 3], [-0.0, 0, 3, 3]])
    for x in (plane, torch.full((4, 4), -INFINITY), torch.zeros(4, 4), plane.nan_to_num(-1)):
        for kernel, stride, padding, dilation in ((4, 4, 0, 1), (3, 1, 1, 1), (2, 1, 1, 2), (3, 2, 1, 1), (2, 2, 0, 1)):
            check(
                lambda x, *a: aten.max_pool2d_with_indices(x[None], *a),
                x,
                [kernel],
                [stride],
                [padding],
                [dilation],
            )
        check(lambda x: aten.adaptive_max_pool2d(x[None], [3, 2]), x)
        check(lambda x: aten.adaptive_max_pool3d(x[None, None], [1, 3, 2]), x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_adaptive_pools_2d(dtype):
    for (name, x), size in itertools.product(image_layouts(), [*SIZES, (0, 3)]):
        message = f"{name}, {size}"
        finite = x.nan_to_num(0, 3, -3).to(dtype)
        check(lambda x, s=size: aten._adaptive_avg_pool2d(x, s), finite, message=message, tolerance=TOLERANCE)
        check(lambda x, s=size: aten.adaptive_max_pool2d(x, s), x.to(dtype), message=message)
        if 0 in size or x.numel() == 0:
            continue
        for pool in (functional.adaptive_avg_pool2d, functional.adaptive_max_pool2d):
            check(
                lambda x, p=pool, s=size: gradients(lambda x: p(x, s), x), finite, message=message, tolerance=TOLERANCE
            )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_adaptive_pools_3d(dtype):
    for (name, x), size in itertools.product(image_layouts(3), [(1, 1, 1), (2, 3, 5), (3, 7, 2), (5, 8, 4)]):
        message = f"{name}, {size}"
        finite = x.nan_to_num(0, 3, -3).to(dtype)
        check(lambda x, s=size: aten._adaptive_avg_pool3d(x, s), finite, message=message, tolerance=TOLERANCE)
        check(lambda x, s=size: aten.adaptive_max_pool3d(x, s), x.to(dtype), message=message)
        if x.numel() == 0:
            continue
        for pool in (functional.adaptive_avg_pool3d, functional.adaptive_max_pool3d):
            check(
                lambda x, p=pool, s=size: gradients(lambda x: p(x, s), x), finite, message=message, tolerance=TOLERANCE
            )


def test_pools_of_one_dimension():
    for layout in layouts()[:5]:
        x = pair(layout, torch.float32, "finite")
        for call in (
            lambda x: functional.avg_pool1d(x, 2, 1, 1),
            lambda x: functional.adaptive_avg_pool1d(x, 2),
            lambda x: functional.adaptive_max_pool1d(x, 3),
        ):
            check(call, x, tolerance=TOLERANCE)
            check(lambda x, c=call: gradients(c, x), x, tolerance=TOLERANCE)
        # Without gradients the CPU has a kernel of its own for this one, whose result is always row-major.
        check(lambda x: functional.max_pool1d(x, 2), x, strides=False)
        check(lambda x: gradients(lambda x: functional.max_pool1d(x, 2), x), x)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_max_unpool(dtype):
    def round_trip(x):
        pooled, indices = functional.max_pool2d(x, 2, return_indices=True)
        return functional.max_unpool2d(pooled, indices, 2)

    def volume_round_trip(x):
        pooled, indices = functional.max_pool3d(x, 2, return_indices=True)
        return functional.max_unpool3d(pooled, indices, 2)

    image = values((2, 3, 4, 6), dtype, "finite")
    for x in (image, image.contiguous(memory_format=torch.channels_last), image[0], image[:, :, ::2]):
        check(round_trip, x)
        check(lambda x: gradients(round_trip, x), x, tolerance=TOLERANCE)
    volume = values((2, 3, 4, 6, 2), dtype, "finite")
    for x in (volume, volume.contiguous(memory_format=torch.channels_last_3d), volume[0]):
        check(volume_round_trip, x)


def test_max_unpool_of_other_places():
    x = values((2, 3, 4), torch.float32, "finite")
    places = torch.arange(12).reshape(3, 4).flip(0).expand(2, 3, 4)
    for size in ([3, 4], [5, 6], [0, 4]):
        check(lambda x, i, s=size: aten.max_unpool2d(x, i, s), x, places)
    for bad in (places + 9, places - 1):
        check(lambda x, i: aten.max_unpool2d(x, i, [4, 4]), x, bad)
    check(lambda x, i: aten.max_unpool2d(x, i, [4, 4]), x, places.int())
    check(lambda x, i: aten.max_unpool2d(x, i, [4, 4]), x, places[:1])
    check(lambda x, i: aten.max_unpool2d(x, i, [-4, 4]), x, places)
    check(lambda x, i: aten.max_unpool2d(x, i, [4]), x, places)
    check(lambda x, i: aten.max_unpool2d(x, i, [4, 4]), x.long(), places)
    check(lambda x, i: aten.max_unpool2d(x, i, [4, 4]), x[0], places[0])
    volume = x[None].expand(2, 2, 3, 4)
    volumes = torch.arange(24).reshape(1, 2, 3, 4).expand(2, 2, 3, 4)
    for size, stride, padding in (
        ([2, 3, 4], [1, 1, 1], [0, 0, 0]),
        ([2, 3, 3], [1, 1, 1], [0, 0, 0]),
        ([2, 3, 4], [1, 0, 1], [0, 0, 0]),
        ([2, 3, 4], [1, 1], [0, 0, 0]),
        ([2, 3, 4], [1, 1, 1], [0, 0]),
        ([2, 3], [1, 1, 1], [0, 0, 0]),
    ):
        check(lambda x, i, *a: aten.max_unpool3d(x, i, *a), volume, volumes, size, stride, padding)


BAD_WINDOWS = [
    ([], [], [0]),
    ([2, 2, 2, 2], [], [0]),
    ([2], [1, 1, 1, 1], [0]),
    ([2], [0], [0]),
    ([0], [], [0]),
    ([2], [], [2]),
    ([2], [], [-1]),
    ([2], [], [0, 0, 0, 0]),
    ([9], [], [0]),
    ([-1], [1], [0]),
    ([2], [-1], [0]),
]


def test_refusals_of_windows():
    image, volume = torch.ones(2, 3, 4, 4), torch.ones(2, 3, 4, 4, 4)
    for arguments in BAD_WINDOWS:
        check(lambda x, a=arguments: aten.avg_pool2d(x, *a), image, message=str(arguments))
        check(lambda x, a=arguments: aten.max_pool2d_with_indices(x, *a), image, message=str(arguments))
        check(lambda x, a=arguments: aten.avg_pool3d(x, *a), volume, message=str(arguments))
        check(lambda x, a=arguments: aten.max_pool3d_with_indices(x, *a), volume, message=str(arguments))
    check(lambda x: aten.avg_pool2d(x, [2], [], [0], False, True, 0), image)
    check(lambda x: aten.avg_pool3d(x, [2], [], [0], False, True, 0), volume)
    check(lambda x: aten.max_pool2d_with_indices(x, [2], [], [0], [0]), image)
    check(lambda x: aten.max_pool3d_with_indices(x, [2], [], [0], [1, 1]), volume)


def test_refusals_of_shapes_and_types():
    shapes = [(), (4,), (4, 4), (0, 4, 4), (2, 0, 4, 4), (2, 3, 0, 4), (1, 1, 1, 4, 4), (1, 2, 3, 4, 0), (1,) * 6]
    for shape in shapes:
        x = torch.ones(shape)
        for call in (
            lambda x: aten.avg_pool2d(x, [2]),
            lambda x: aten.max_pool2d_with_indices(x, [2]),
            lambda x: aten.avg_pool3d(x, [1]),
            lambda x: aten.max_pool3d_with_indices(x, [1]),
            lambda x: aten._adaptive_avg_pool2d(x, [2, 2]),
            lambda x: aten._adaptive_avg_pool3d(x, [2, 2, 2]),
            lambda x: aten.adaptive_max_pool2d(x, [2, 2]),
            lambda x: aten.adaptive_max_pool3d(x, [2, 2, 2]),
        ):
            check(call, x, message=str(shape))
    for dtype in (torch.int32, torch.bool, torch.complex64):
        x = torch.ones(3, 4, 4, 4).to(dtype)
        check(lambda x: aten.avg_pool2d(x, [2]), x)
        check(lambda x: aten.avg_pool3d(x, [2]), x)
        check(lambda x: aten.max_pool2d_with_indices(x, [2]), x)
        check(lambda x: aten.max_pool3d_with_indices(x, [2]), x)
        check(lambda x: aten._adaptive_avg_pool2d(x, [2, 2]), x)
        check(lambda x: aten.adaptive_max_pool3d(x, [2, 2, 2]), x)
    x = torch.ones(2, 3, 4, 4)
    for size in ([2], [2, 2, 2], [-1, 2]):
        check(lambda x, s=size: aten._adaptive_avg_pool2d(x, s), x)
        check(lambda x, s=size: aten.adaptive_max_pool2d(x, s), x)


def test_refusals_of_gradients():
    x, small = torch.ones(2, 3, 4, 4), torch.ones(2, 3, 2, 2)
    places = torch.zeros(2, 3, 2, 2, dtype=torch.long)
    for gradient in (x, small.double()):
        check(lambda g, x: aten.avg_pool2d_backward(g, x, [2], [2], [0], False, True, None), gradient, x)
        check(
            lambda g, x, i: aten.max_pool2d_with_indices_backward(g, x, [2], [2], [0], [1], False, i),
            gradient,
            x,
            places,
        )
    for indices in (places.int(), places[..., :1]):
        check(
            lambda g, x, i: aten.max_pool2d_with_indices_backward(g, x, [2], [2], [0], [1], False, i),
            small,
            x,
            indices,
        )
    check(lambda g, x: aten._adaptive_avg_pool2d_backward(g, x), small.double(), x)
    check(lambda g, x: aten._adaptive_avg_pool2d_backward(g, x), small[0], x)
    check(lambda g, x, i: aten.adaptive_max_pool2d_backward(g, x, i), small.double(), x, places)
    check(lambda g, x, i: aten.adaptive_max_pool2d_backward(g, x, i), small, x, places.int())


def test_given_results():
    def run(x):
        out, indices = x.new_zeros(0), torch.zeros(2, 3, 2, 2, dtype=torch.long, device=x.device)
        aten.max_pool2d_with_indices.out(x, [2], out=out, indices=indices)
        mean = x.new_zeros(2, 2, 3, 2).transpose(1, 2)
        aten.avg_pool2d.out(x, [2], out=mean)
        gradient = x.new_zeros(0)
        aten.avg_pool2d_backward.grad_input(mean, x, [2], [2], [0], False, True, None, grad_input=gradient)
        return out, indices, mean, gradient

    check(run, values((2, 3, 4, 4), torch.float32, "finite"), tolerance=TOLERANCE)


def test_second_gradients():
    def run(x, pool):
        leaf = x.detach().requires_grad_()
        (first,) = torch.autograd.grad((pool(leaf) ** 2).sum(), leaf, create_graph=True)
        return torch.autograd.grad((first**2).sum(), leaf)

    x = values((2, 3, 6, 6), torch.float32, "finite")
    for pool in (
        lambda x: functional.avg_pool2d(x, 3, 2, 1),
        lambda x: functional.max_pool2d(x, 3, 2, 1),
        lambda x: functional.adaptive_avg_pool2d(x, (4, 3)),
    ):
        check(lambda x, p=pool: run(x, p), x, tolerance={torch.float32: (1e-5, 1e-5)})
