// Joining, shifting, padding and filling. No element changes its type.
#include <algorithm>

#include "lowering/arguments.h"
#include "lowering/families.h"
#include "lowering/helpers.h"
#include "lowering/index_arguments.h"
#include "lowering/memory_format.h"
#include "lowering/strides.h"
#include "lowering/windows.h"

namespace opentrn::lowering {
namespace {

using Tensors = std::vector<TensorArgument>;

Tensors given(const Context& context) {
  Tensors tensors;
  for (const auto& tensor : context.tensors("tensors")) {
    if (tensor) tensors.push_back(*tensor);
  }
  return tensors;
}

DType promoted(const Context& context, const Tensors& tensors) {
  Promoter promoter(context.call.default_dtype);
  for (const TensorArgument& tensor : tensors) promoter.add(tensor);
  return promoter.result();
}

/// Tensors of shape [0] join with anything, as they always did in PyTorch.
bool is_skipped(const TensorArgument& tensor) { return tensor.type.shape == Dims{0}; }

void require_joinable(const Context& context, const Tensors& tensors, size_t number, const Dims& first, int64_t dim) {
  Dims shape = tensors[number].type.shape;
  require(shape.size() == first.size(), context, ErrorKind::Runtime,
          {.what = concat("Tensors must have same number of dimensions: got ", first.size(), " and ", shape.size()),
           .action = "unsqueeze the smaller one"});
  for (size_t i = 0; i < shape.size(); ++i) {
    require(static_cast<int64_t>(i) == dim || shape[i] == first[i], context, ErrorKind::Runtime,
            {.what = concat("Sizes of tensors must match except in dimension ", dim, ". Expected size ", first[i],
                            " but got size ", shape[i], " for tensor number ", number, " in the list"),
             .action = "pad or slice it"});
  }
}

/// channels_last when all operands are, else row-major.
Dims joined_strides(const Tensors& tensors, const Dims& shape) {
  const bool channels_last = std::all_of(tensors.begin(), tensors.end(), [](const TensorArgument& tensor) {
    return is_channels_last_like(tensor.type.shape, tensor.strides);
  });
  return channels_last ? channels_last_strides(shape) : contiguous_strides(shape);
}

Results join(Context& context, const Tensors& tensors, int64_t dim) {
  ir::Builder& b = context.b;
  const DType dtype = promoted(context, tensors);
  if (!context.call.destinations.empty()) {
    const DType to = context.call.destinations.front().type.dtype;
    require(can_cast(dtype, to), context, ErrorKind::Type,
            {.what = concat("input types can't be cast to the desired output type ", scalar_type_name(to)),
             .action = "give an output of another type"});
  }
  const auto first = std::find_if_not(tensors.begin(), tensors.end(), is_skipped);
  if (first == tensors.end()) return {b.splat({dtype, {0}}, 0)};
  const int64_t axis = context.dimension(dim, first->type.rank());
  std::vector<ir::Value> values;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (is_skipped(tensors[i])) continue;
    require_joinable(context, tensors, i, first->type.shape, axis);
    values.push_back(b.convert(tensors[i].value, dtype));
  }
  const ir::Value result = b.concatenate(values, axis);
  context.result_strides = {joined_strides(tensors, b.shape(result))};
  return {result};
}

Results cat(Context& context) {
  const Tensors tensors = given(context);
  require(!tensors.empty(), context, ErrorKind::Value,
          {.what = "expected a non-empty list of Tensors", .action = "give at least one tensor"});
  for (size_t i = 0; i < tensors.size(); ++i) {
    require(tensors[i].type.rank() > 0, context, ErrorKind::Runtime,
            {.what = concat("zero-dimensional tensor (at position ", i, ") cannot be concatenated"),
             .action = "unsqueeze it or use stack"});
  }
  return join(context, tensors, context.integer("dim"));
}

/// The tensor with a dimension of size 1 inserted.
TensorArgument unsqueezed(ir::Builder& b, TensorArgument tensor, int64_t dim) {
  const auto place = static_cast<size_t>(dim);
  const int64_t stride = place < tensor.strides.size() ? tensor.type.shape[place] * tensor.strides[place] : 1;
  tensor.type.shape.insert(tensor.type.shape.begin() + dim, 1);
  tensor.strides.insert(tensor.strides.begin() + dim, stride);
  tensor.value = b.reshape(tensor.value, tensor.type.shape);
  return tensor;
}

/// PyTorch joins along an existing dimension and splits that: a memory format of the operands survives. Empty for a new
/// last dimension.
Dims stacked_strides(const Tensors& tensors, int64_t dim) {
  const auto place = static_cast<size_t>(dim);
  Dims shape = tensors.front().type.shape;
  if (place >= shape.size()) return {};
  const int64_t size = shape[place];
  shape[place] *= static_cast<int64_t>(tensors.size());
  Dims strides = joined_strides(tensors, shape);
  strides.insert(strides.begin() + dim, strides[place] * std::max<int64_t>(size, 1));
  return strides;
}

Results stack(Context& context) {
  Tensors tensors = given(context);
  require(!tensors.empty(), context, ErrorKind::Runtime,
          {.what = "stack expects a non-empty TensorList", .action = "give at least one tensor"});
  const Dims shape = tensors.front().type.shape;
  const int64_t dim = context.dimension(context.integer("dim"), tensors.front().type.rank() + 1);
  for (size_t i = 0; i < tensors.size(); ++i) {
    require(tensors[i].type.shape == shape, context, ErrorKind::Runtime,
            {.what = concat("stack expects each tensor to be equal size, but got ", to_string(shape),
                            " at entry 0 and ", to_string(tensors[i].type.shape), " at entry ", i),
             .action = "pad or slice it"});
  }
  const Dims strides = stacked_strides(tensors, dim);
  for (TensorArgument& tensor : tensors) tensor = unsqueezed(context.b, tensor, dim);
  const Results results = join(context, tensors, dim);
  if (!strides.empty()) context.result_strides = {strides};
  return results;
}

/// Moves elements `shift` places up along `dim`; those that leave at the end come back at the start.
ir::Value rolled(ir::Builder& b, ir::Value x, int64_t shift, int64_t dim) {
  const Dims shape = b.shape(x);
  const int64_t size = shape[static_cast<size_t>(dim)];
  if (size == 0) return x;
  const int64_t cut = ((size - shift) % size + size) % size;
  if (cut == 0) return x;
  Dims middle_start(shape.size(), 0), middle_limit = shape;
  middle_start[static_cast<size_t>(dim)] = cut;
  middle_limit[static_cast<size_t>(dim)] = cut;
  const Dims ones(shape.size(), 1);
  const ir::Value parts[] = {b.slice(x, middle_start, shape, ones),
                             b.slice(x, Dims(shape.size(), 0), middle_limit, ones)};
  return b.concatenate(parts, dim);
}

Results roll(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const Dims& shifts = context.integers("shifts");
  const Dims& dims = context.integers("dims");
  require(!shifts.empty(), context, ErrorKind::Runtime, {.what = "`shifts` required", .action = "give a shift"});
  if (dims.empty() && shifts.size() == 1) {
    return {b.reshape(rolled(b, flattened(b, self.value), shifts[0], 0), self.type.shape)};
  }
  require(shifts.size() == dims.size(), context, ErrorKind::Runtime,
          {.what = concat("shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size()),
           .action = "give one shift per dimension"});
  require(self.type.rank() > 0, context, ErrorKind::Index,
          {.what = concat("Dimension specified as ", dims[0], " but tensor has no dimensions"),
           .action = "leave dims out"});
  ir::Value result = self.value;
  for (size_t i = 0; i < dims.size(); ++i) {
    result = rolled(b, result, shifts[i], context.dimension(dims[i], self.type.rank()));
  }
  return {result};
}

Results flip(Context& context) {
  const Dims dims = context.dimensions("dims", context.tensor("self").type.rank(), false);
  if (dims.empty()) return {context.value("self")};
  return {context.b.reverse(context.value("self"), dims)};
}

Results repeat(Context& context) {
  ir::Builder& b = context.b;
  const Dims& repeats = context.integers("repeats");
  Dims shape = context.tensor("self").type.shape;
  require(repeats.size() >= shape.size(), context, ErrorKind::Runtime,
          {.what = "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor",
           .got = concat(repeats.size(), " and ", shape.size()),
           .action = "give one repeat per dimension"});
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  Dims spread, sources, result;
  for (size_t i = 0; i < shape.size(); ++i) {
    require(repeats[i] >= 0, context, ErrorKind::Runtime,
            {.what = concat("Trying to create tensor with negative dimension ", shape[i] * repeats[i]),
             .action = "give repeats of at least 0"});
    spread.insert(spread.end(), {repeats[i], shape[i]});
    sources.push_back(static_cast<int64_t>(2 * i + 1));
    result.push_back(shape[i] * repeats[i]);
  }
  const ir::Value tiles = b.broadcast_in_dim(b.reshape(context.value("self"), shape), spread, sources);
  return {b.reshape(tiles, result)};
}

/// PyTorch lists paddings from the last dimension backwards, as pairs.
struct Padding {
  Dims low, high;
};

Padding padding_of(const Context& context, size_t rank) {
  const Dims& pad = context.integers("pad");
  require(pad.size() % 2 == 0, context, ErrorKind::Runtime,
          {.what = concat("Length of pad must be even but instead it equals ", pad.size()), .action = "give pairs"});
  require(pad.size() <= 2 * rank, context, ErrorKind::Runtime,
          {.what = "Length of pad should be no more than twice the number of dimensions of the input",
           .got = concat("pad length ", pad.size(), ", ", rank, " dimensions"),
           .action = "leave out the first pairs"});
  Padding padding{Dims(rank, 0), Dims(rank, 0)};
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    padding.low[rank - 1 - i] = pad[2 * i];
    padding.high[rank - 1 - i] = pad[2 * i + 1];
  }
  return padding;
}

Results constant_pad_nd(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const Padding padding = padding_of(context, self.type.shape.size());
  Dims shape = self.type.shape;
  bool only_cuts = true;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t size = shape[i] + padding.low[i] + padding.high[i];
    require(size >= 0 && shape[i] + padding.low[i] >= 0 && shape[i] + padding.high[i] >= 0, context, ErrorKind::Runtime,
            {.what = concat("The input size ", shape[i], ", plus negative padding ", padding.low[i], " and ",
                            padding.high[i], ", resulted in a negative output size, which is invalid"),
             .action = "cut off less"});
    shape[i] = size;
    only_cuts = only_cuts && padding.low[i] <= 0 && padding.high[i] <= 0;
  }
  if (only_cuts) {
    context.result_strides = {preserved_strides(shape, self.strides)};
  } else if (is_channels_last_like(self.type.shape, self.strides)) {
    context.result_strides = {channels_last_strides(shape)};
  }
  const ir::Value value = checked_scalar(context, "value", self.type.dtype);
  if (element_count(shape) == 0) return {b.splat({self.type.dtype, shape}, 0)};
  return {b.pad(self.value, value, padding.low, padding.high, Dims(shape.size(), 0))};
}

/// One triangle of the last two dimensions.
Results triangle(Context& context, ir::ComparisonDirection kept) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  require(self.type.rank() >= 2, context, ErrorKind::Runtime,
          {.what = "input tensor must have at least 2 dimensions",
           .got = concat(self.type.rank()),
           .action = "unsqueeze it"});
  const Dims matrix(self.type.shape.end() - 2, self.type.shape.end());
  const ir::Value columns = along(b, b.iota({DType::I64, {matrix[1]}}, 0), matrix, 1);
  const ir::Value diagonal = integer_splat(b, {DType::I64, {matrix[0]}}, context.integer("diagonal"));
  const ir::Value limits = along(b, b.add(b.iota({DType::I64, {matrix[0]}}, 0), diagonal), matrix, 0);
  const ir::Value keep = b.broadcast_to(b.compare(kept, columns, limits), self.type.shape);
  return {b.select(keep, self.value, b.splat(self.type, 0))};
}

Results tril(Context& context) { return triangle(context, ir::ComparisonDirection::LE); }
Results triu(Context& context) { return triangle(context, ir::ComparisonDirection::GE); }

Results fill_scalar(Context& context) {
  const ir::TensorType& type = context.tensor("self").type;
  return {context.b.broadcast_to(checked_scalar(context, "value", type.dtype), type.shape)};
}

Results fill_tensor(Context& context) {
  const ir::TensorType& type = context.tensor("self").type;
  const int64_t rank = context.tensor("value").type.rank();
  require(rank == 0, context, ErrorKind::Runtime,
          {.what = concat("fill_ only supports 0-dimension value tensor but got tensor with ", rank, " dimensions"),
           .action = "give a number, or use copy_"});
  return {context.b.broadcast_to(context.value("value", type.dtype), type.shape)};
}

Results zero(Context& context) { return {context.b.splat(context.tensor("self").type, 0)}; }

Results unfold_backward(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& gradient = context.tensor("grad_in");
  const ir::TensorType type{gradient.type.dtype, context.integers("input_sizes")};
  const int64_t size = context.integer("size");
  const int64_t rank = type.rank();
  if (rank == 0) return {b.reshape(gradient.value, {})};
  const int64_t dim = context.dimension(context.integer("dim"), rank);
  const int64_t windows = gradient.type.shape[static_cast<size_t>(dim)];
  Dims order;  // the elements of a window next to the windows
  for (int64_t i = 0; i < rank; ++i) {
    order.push_back(i);
    if (i == dim) order.push_back(rank);
  }
  const ir::Value updates = b.transpose(gradient.value, order);
  const Dims grid = {windows, size};
  const ir::Value window = b.iota({DType::I64, {windows}}, 0);
  const ir::Value starts = b.multiply(window, integer_splat(b, b.type(window), context.integer("step")));
  const ir::Value offsets = along(b, b.iota({DType::I64, {size}}, 0), grid, 1);
  const ir::Value positions = b.add(along(b, starts, grid, 0), offsets);
  return {scatter_slices(b, b.splat(type, 0), dim, positions, updates, ir::Op::Add)};
}

Results trace(Context& context) {
  ir::Builder& b = context.b;
  const TensorArgument& self = context.tensor("self");
  const DType dtype = self.type.dtype;
  require(self.type.rank() == 2, context, ErrorKind::Runtime,
          {.what = concat("expected a matrix, but got tensor with dim ", self.type.rank()),
           .action = "use diagonal().sum()"});
  check_types(context, dtype, "ifc");
  const DType result = is_integral(dtype) ? DType::I64 : dtype;
  const DType compute = compute_dtype(result);
  const int64_t size = std::min(self.type.shape[0], self.type.shape[1]);
  const ir::Value square = head(b, self.value, {size, size});
  const ir::Value places = b.reshape(b.iota({DType::I64, {size}}, 0), {size, 1});
  const ir::Value diagonal = gather_elements(b, square, 1, places);
  return {b.convert(b.reduce(b.convert(diagonal, compute), ir::Op::Add, {0, 1}), result)};
}

}  // namespace

std::span<const Rule> movement_rules() {
  static const Rule rules[] = {
      converting(general("cat", cat)),
      general("constant_pad_nd", constant_pad_nd),
      general("fill.Scalar", fill_scalar, StrideRule::LikeSelf),
      general("fill.Tensor", fill_tensor, StrideRule::LikeSelf),
      general("flip", flip, StrideRule::LikeSelf),
      general("repeat", repeat),
      general("roll", roll),
      converting(general("stack", stack)),
      general("trace", trace),
      general("tril", tril),
      general("triu", triu),
      general("unfold_backward", unfold_backward),
      general("zero", zero, StrideRule::LikeSelf),
  };
  return rules;
}

}  // namespace opentrn::lowering
