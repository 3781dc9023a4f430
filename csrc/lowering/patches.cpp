// Patches of images as columns and back, and the shuffling of channels.
#include <array>
#include <cstring>

#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/memory_format.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using ir::Builder;
using ir::Value;

/// How patches lie along one dimension of an image.
struct Axis {
  int64_t size, kernel, dilation, padding, stride;

  int64_t padded() const { return size + 2 * padding; }
  int64_t blocks() const {
    const int64_t room = padded() - dilation * (kernel - 1) - 1;
    return room < 0 ? 0 : room / stride + 1;
  }
};

struct Patches {
  Axis rows, columns;

  int64_t elements() const { return rows.kernel * columns.kernel; }
  int64_t blocks() const { return rows.blocks() * columns.blocks(); }
};

int64_t pair_entry(const Context& c, std::string_view name, size_t i) {
  const Dims& pair = c.integers(name);
  require(pair.size() == 2, c, ErrorKind::Runtime,
          {.what = concat("It is expected ", name, " equals to 2, but got size ", pair.size()),
           .action = "give one number for the height and one for the width"});
  return pair[i];
}

Axis axis_of(const Context& c, size_t i, int64_t size) {
  const Axis axis{size, pair_entry(c, "kernel_size", i), pair_entry(c, "dilation", i), pair_entry(c, "padding", i),
                  pair_entry(c, "stride", i)};
  require(axis.kernel > 0 && axis.dilation > 0 && axis.stride > 0 && axis.padding >= 0, c, ErrorKind::Runtime,
          {.what = "kernel size, dilation and stride should be greater than zero, and padding not negative",
           .got = concat("kernel_size ", axis.kernel, ", dilation ", axis.dilation, ", padding ", axis.padding,
                         ", stride ", axis.stride)});
  return axis;
}

/// Places in the padded image, by element of the kernel and block.
Value places(Builder& b, const Axis& axis) {
  std::vector<int64_t> numbers;
  for (int64_t element = 0; element < axis.kernel; ++element) {
    for (int64_t block = 0; block < axis.blocks(); ++block) {
      numbers.push_back(element * axis.dilation + block * axis.stride);
    }
  }
  std::vector<std::byte> bytes(numbers.size() * sizeof(int64_t));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return b.constant({DType::I64, {axis.kernel, axis.blocks()}}, std::move(bytes));
}

/// Swaps the dimensions between [.., kernel rows, block rows, kernel columns, block columns] and [.., kernel rows,
/// kernel columns, block rows, block columns].
Value swapped(Builder& b, Value x) { return b.transpose(x, {0, 1, 2, 4, 3, 5}); }

/// The batch of one that a tensor without a batch dimension is.
Dims batched(Dims shape, size_t rank) {
  if (shape.size() < rank) shape.insert(shape.begin(), 1);
  return shape;
}

Dims unbatched(Dims shape, bool had_batch) {
  if (!had_batch) shape.erase(shape.begin());
  return shape;
}

Results image_to_columns(Context& c) {
  Builder& b = c.b;
  const ir::TensorType& type = c.tensor("self").type;
  require(type.rank() > 2, c, ErrorKind::Index,
          {.what = "Dimension out of range", .got = "shape " + to_string(type.shape), .action = "unsqueeze the input"});
  const Dims shape = batched(type.shape, 4);
  const bool fits = shape.size() == 4 && shape[1] > 0 && shape[2] > 0 && shape[3] > 0;
  require(fits, c, ErrorKind::Runtime,
          {.what = "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
                   "input",
           .got = to_string(type.shape),
           .action = "only the batch may be empty"});
  const Patches patches{axis_of(c, 0, shape[2]), axis_of(c, 1, shape[3])};
  require(patches.blocks() > 0, c, ErrorKind::Runtime,
          {.what = "calculated shape of the array of sliding blocks has no elements",
           .got = "shape " + to_string(type.shape),
           .action = "pad the input or take a smaller kernel"});
  check_types(c, type.dtype, "bfc");
  const int64_t high = patches.rows.padding, wide = patches.columns.padding;
  Value x = b.reshape(c.value("self"), shape);
  if (high + wide > 0) {
    x = b.pad(x, b.scalar(type.dtype, 0.0), {0, 0, high, wide}, {0, 0, high, wide}, {0, 0, 0, 0});
  }
  x = gather_slices(b, x, 3, places(b, patches.columns));
  x = swapped(b, gather_slices(b, x, 2, places(b, patches.rows)));
  const Dims columns = {shape[0], shape[1] * patches.elements(), patches.blocks()};
  return {b.reshape(x, unbatched(columns, type.rank() == 4))};
}

Results columns_to_image(Context& c) {
  Builder& b = c.b;
  const ir::TensorType& type = c.tensor("self").type;
  const Patches patches{axis_of(c, 0, pair_entry(c, "output_size", 0)), axis_of(c, 1, pair_entry(c, "output_size", 1))};
  const Dims shape = batched(type.shape, 3);
  require(type.rank() > 1 && shape.size() == 3 && shape[1] > 0 && shape[2] > 0, c, ErrorKind::Runtime,
          {.what = "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions "
                   "for input",
           .got = to_string(type.shape),
           .action = "only the batch may be empty"});
  require(shape[1] % patches.elements() == 0, c, ErrorKind::Runtime,
          {.what = "Expected size of input's dimension 1 to be divisible by the product of kernel_size",
           .got = concat(shape[1], " and ", patches.elements())});
  require(shape[2] == patches.blocks(), c, ErrorKind::Runtime,
          {.what = "expected size of input's dimension 2 to match the calculated number of sliding blocks",
           .got = concat(shape[2]),
           .expected = concat(patches.blocks())});
  check_types(c, type.dtype, "bfc");
  const Axis &rows = patches.rows, &columns = patches.columns;
  const int64_t channels = shape[1] / patches.elements();
  const DType compute = compute_dtype(type.dtype);
  const ir::Op sum = is_bool(compute) ? ir::Op::Or : ir::Op::Add;
  Value x = b.reshape(c.value("self", compute),
                      {shape[0], channels, rows.kernel, columns.kernel, rows.blocks(), columns.blocks()});
  const Value wide = b.splat({compute, {shape[0], channels, rows.kernel, rows.blocks(), columns.padded()}}, 0.0);
  x = scatter_slices(b, wide, 4, places(b, columns), swapped(b, x), sum);
  const Value whole = b.splat({compute, {shape[0], channels, rows.padded(), columns.padded()}}, 0.0);
  x = scatter_slices(b, whole, 2, places(b, rows), x, sum);
  x = b.slice(x, {0, 0, rows.padding, columns.padding},
              {shape[0], channels, rows.padding + rows.size, columns.padding + columns.size}, {1, 1, 1, 1});
  return {b.reshape(b.convert(x, type.dtype), unbatched(b.shape(x), type.rank() == 3))};
}

Results shuffle_channels(Context& c) {
  Builder& b = c.b;
  const TensorArgument& self = c.tensor("self");
  const Dims& shape = self.type.shape;
  const int64_t groups = c.integer("groups");
  require(shape.size() > 2, c, ErrorKind::Runtime,
          {.what = concat("channel_shuffle expects input with > 2 dims, but got input with sizes ", to_string(shape)),
           .action = "unsqueeze it"});
  require(groups > 0, c, ErrorKind::Runtime,
          {.what = "Number of groups to divide channels in must be positive", .got = concat(groups)});
  require(shape[1] % groups == 0, c, ErrorKind::Runtime,
          {.what = "Number of channels must be divisible by groups",
           .got = concat(shape[1], " channels and ", groups, " groups")});
  c.result_strides = {is_channels_last_like(shape, self.strides) ? channels_last_strides(shape)
                                                                 : contiguous_strides(shape)};
  Dims grouped = shape, order = {0, 2, 1};
  grouped[1] = shape[1] / groups;
  grouped.insert(grouped.begin() + 1, groups);
  for (int64_t dim = 3; dim < static_cast<int64_t>(grouped.size()); ++dim) order.push_back(dim);
  return {b.reshape(b.transpose(b.reshape(self.value, grouped), order), shape)};
}

const std::array kRules = {
    general("channel_shuffle", shuffle_channels),
    general("col2im", columns_to_image),
    general("im2col", image_to_columns),
    general("native_channel_shuffle", shuffle_channels),
};

}  // namespace

std::span<const Rule> patch_rules() { return kRules; }

}  // namespace opentrn::lowering
