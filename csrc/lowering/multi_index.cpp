#include "lowering/multi_index.h"

#include <algorithm>

#include "lowering/arguments.h"
#include "lowering/index_arguments.h"
#include "lowering/strides.h"

namespace opentrn::lowering {
namespace {

void require_index_types(const Context& context, const TensorList& indices) {
  for (const auto& index : indices) {
    if (!index) continue;
    const DType dtype = index->type.dtype;
    if (dtype == DType::Bool || dtype == DType::U8) decline("an index is a mask");
    require(dtype == DType::I64 || dtype == DType::I32, context, ErrorKind::Index,
            {.what = "tensors used as indices must be long, int, byte or bool tensors",
             .got = std::string(info(dtype).torch_name),
             .action = "convert the index with .long()"});
  }
}

Dims batch_shape(const Context& context, const TensorList& indices) {
  Dims batch;
  for (const auto& index : indices) {
    if (!index) continue;
    Dims merged;
    require(broadcast_shapes(batch, index->type.shape, merged), context, ErrorKind::Index,
            {.what = "shape mismatch: indexing tensors could not be broadcast together",
             .got = concat("shapes ", to_string(batch), ", ", to_string(index->type.shape)),
             .action = "reshape the indices"});
    batch = std::move(merged);
  }
  return batch;
}

bool mixed_types(const TensorList& indices) {
  const auto any = [&](DType dtype) {
    return std::any_of(indices.begin(), indices.end(),
                       [dtype](const auto& index) { return index && index->type.dtype == dtype; });
  };
  return any(DType::I32) && any(DType::I64);
}

void require_elements(const Context& context, const Dims& shape, const MultiIndex& plan) {
  if (element_count(plan.batch) == 0) return;
  for (const int64_t dim : plan.dims) {
    require(shape[static_cast<size_t>(dim)] > 0, context, ErrorKind::Index,
            {.what = concat("index is out of bounds for dimension ", dim, " with size 0"),
             .action = "index only dimensions that have elements"});
  }
}

TensorArgument view_of(const TensorArgument& tensor, Dims shape, Dims strides) {
  TensorArgument view = tensor;
  view.type.shape = std::move(shape);
  view.strides = std::move(strides);
  return view;
}

/// Strides of an index within the result: it moves only along the batch dimensions, aligned at their right.
TensorArgument index_view(const TensorArgument& index, const MultiIndex& plan, const Dims& shape) {
  Dims sizes(shape.size(), 1);
  Dims strides(shape.size(), 0);
  const auto begin = static_cast<size_t>(plan.batch_position());
  const size_t missing = plan.batch.size() - index.type.shape.size();
  for (size_t i = 0; i < plan.batch.size(); ++i) {
    sizes[begin + i] = plan.batch[i];
    if (i >= missing && index.type.shape[i - missing] != 1) strides[begin + i] = index.strides[i - missing];
  }
  return view_of(index, std::move(sizes), std::move(strides));
}

/// Strides of the indexed tensor within the result: the batch dimensions do not move it.
TensorArgument self_view(const TensorArgument& self, const MultiIndex& plan, const Dims& shape) {
  Dims strides;
  for (size_t i = 0; i < self.strides.size(); ++i) {
    const bool indexed = std::find(plan.dims.begin(), plan.dims.end(), static_cast<int64_t>(i)) != plan.dims.end();
    if (!indexed) strides.push_back(self.strides[i]);
  }
  strides.insert(strides.begin() + plan.batch_position(), plan.batch.size(), 0);
  return view_of(self, shape, std::move(strides));
}

}  // namespace

MultiIndex multi_index(Context& context, const TensorArgument& self) {
  ir::Builder& b = context.b;
  const TensorList& indices = context.tensors("indices");
  require_index_types(context, indices);
  require(static_cast<int64_t>(indices.size()) <= self.type.rank(), context, ErrorKind::Index,
          {.what = concat("too many indices for tensor of dimension ", self.type.rank(), " (got ", indices.size(), ")"),
           .action = "use at most one index per dimension"});
  MultiIndex plan;
  plan.batch = batch_shape(context, indices);
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i]) plan.dims.push_back(static_cast<int64_t>(i));
  }
  require(!plan.dims.empty(), context, ErrorKind::Index,
          {.what = "at least one index must be provided", .action = "give an index tensor"});
  require_elements(context, self.type.shape, plan);
  // Indices into something without elements are not read, so they may hold anything.
  const bool reads = element_count(plan.result_shape(self.type.shape)) > 0;
  const bool mixed = mixed_types(indices);
  for (const int64_t dim : plan.dims) {
    const ir::Value given = indices[static_cast<size_t>(dim)]->value;
    const ir::Value index = mixed ? b.convert(given, DType::I64) : given;
    const ir::Value safe = reads ? checked(context, index, self.type.shape, dim, ir::IndexRule::WrapNegative) : index;
    plan.indices.push_back(b.broadcast_to(safe, plan.batch));
  }
  return plan;
}

Dims multi_index_strides(const Context& context, const TensorArgument& self, const MultiIndex& plan) {
  const Dims shape = plan.result_shape(self.type.shape);
  std::vector<TensorArgument> views = {self_view(self, plan, shape)};
  for (const auto& index : context.tensors("indices")) {
    if (index) views.push_back(index_view(*index, plan, shape));
  }
  return elementwise_strides(shape, views);
}

}  // namespace opentrn::lowering
