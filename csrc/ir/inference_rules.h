// Private to ir: what the inference files share.
#pragma once

#include <algorithm>
#include <string>

#include "base/error.h"
#include "ir/inference.h"

namespace opentrn::ir {

std::vector<TensorType> infer_elementwise(const InferenceQuery& query);
std::vector<TensorType> infer_data(const InferenceQuery& query);
std::vector<TensorType> infer_indexing(const InferenceQuery& query);
std::vector<TensorType> infer_compute(const InferenceQuery& query);
/// The primitives that carry regions; also reduce, reduce_window, scatter and sort when they do.
std::vector<TensorType> infer_with_regions(const InferenceQuery& query);
/// Matrices and signals: cholesky, convolution, fft, triangular_solve.
TensorType infer_numeric(const InferenceQuery& query);

inline bool contains(const Dims& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

inline int64_t at(const Dims& dims, int64_t index) { return dims[static_cast<size_t>(index)]; }

/// Raises with the primitive's name in front.
[[noreturn]] void refuse(Op op, std::string what, std::string got, std::string expected, std::string action = "");

/// "operand 1"
std::string operand_name(size_t index);

/// The attributes of the primitive; refuses when they are of another primitive.
template <typename T>
const T& attributes_of(const InferenceQuery& query) {
  const T* attributes = std::get_if<T>(&query.attributes);
  if (attributes == nullptr) refuse(query.op, "the attributes belong to another primitive", "", "");
  return *attributes;
}

/// Refuses a list whose length is not `length`.
void require_length(Op op, std::string_view list, const Dims& values, size_t length);

/// Refuses dimension numbers outside [0, rank) or listed twice.
void require_dimensions(Op op, std::string_view list, const Dims& dimensions, int64_t rank);

/// Refuses an operand that is not of type `dtype` and 0-dimensional.
void require_scalar(Op op, size_t index, const TensorType& type, DType dtype);

/// Refuses an operand that is not an i32 or i64 tensor, the only index types of the IR.
void require_index(Op op, size_t index, const TensorType& type);

/// Refuses a list with an entry below 1.
void require_positive(Op op, std::string_view list, const Dims& values);

/// The shape reduce_window gives to a tensor of `shape`, its lists checked; select_and_scatter scatters from such a
/// one.
Dims windowed_shape(Op op, const Dims& shape, const ReduceWindowAttributes& window);

/// Refuses the indices, operand `inputs`, or the updates of input `index` when they do not fit that input.
void require_scatter(const InferenceQuery& query, size_t index, size_t inputs);

/// The declared type; refuses when there is none.
const TensorType& declared_type(const InferenceQuery& query);

}  // namespace opentrn::ir
