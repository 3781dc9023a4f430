#include "ir/inference.h"

#include <algorithm>

#include "ir/inference_rules.h"

namespace opentrn::ir {

void refuse(Op op, std::string what, std::string got, std::string expected, std::string action) {
  raise(ErrorKind::Runtime, {.where = std::string(name(op)),
                             .what = std::move(what),
                             .got = std::move(got),
                             .expected = std::move(expected),
                             .action = std::move(action)});
}

std::string operand_name(size_t index) { return "operand " + std::to_string(index); }

void require_length(Op op, std::string_view list, const Dims& values, size_t length) {
  if (values.size() == length) return;
  refuse(op, concat(list, " has a wrong length"), to_string(values), concat(length, " entries"));
}

void require_dimensions(Op op, std::string_view list, const Dims& dimensions, int64_t rank) {
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t dimension = dimensions[i];
    if (dimension < 0 || dimension >= rank) {
      refuse(op, concat(list, " is out of range"), to_string(dimensions), concat("dimensions in [0, ", rank, ")"));
    }
    const auto seen = dimensions.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(dimensions.begin(), seen, dimension) != seen) {
      refuse(op, concat(list, " names a dimension twice"), to_string(dimensions), "unique dimensions");
    }
  }
}

void require_scalar(Op op, size_t index, const TensorType& type, DType dtype) {
  if (type.rank() == 0 && type.dtype == dtype) return;
  refuse(op, operand_name(index) + " has a wrong type", to_string(type), to_string(TensorType{dtype, {}}));
}

void require_index(Op op, size_t index, const TensorType& type) {
  if (type.dtype == DType::I32 || type.dtype == DType::I64) return;
  refuse(op, operand_name(index) + " is no index", to_string(type), "element type i32 or i64", "convert it first");
}

const TensorType& declared_type(const InferenceQuery& query) {
  if (query.declared == nullptr) refuse(query.op, "the type of the result is missing", "", "");
  return *query.declared;
}

namespace {

void require_operand_count(const InferenceQuery& query) {
  const int count = info(query.op).operands;
  if (count < 0 || query.operands.size() == static_cast<size_t>(count)) return;
  refuse(query.op, "wrong number of operands", std::to_string(query.operands.size()), std::to_string(count));
}

void require_sizes(Op op, const TensorType& type) {
  for (const int64_t size : type.shape) {
    if (size < 0) refuse(op, "a size of the result is negative", to_string(type), "sizes of at least 0");
  }
}

}  // namespace

std::vector<TensorType> infer(const InferenceQuery& query) {
  require_operand_count(query);
  if (query.declared != nullptr) require_sizes(query.op, *query.declared);
  switch (info(query.op).op_class) {
    case OpClass::Elementwise: return infer_elementwise(query);
    case OpClass::Data: return infer_data(query);
    case OpClass::Compute: return infer_compute(query);
  }
  __builtin_unreachable();
}

}  // namespace opentrn::ir
