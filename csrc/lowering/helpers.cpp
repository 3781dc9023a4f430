#include "lowering/helpers.h"

#include <algorithm>
#include <numeric>

#include "lowering/arguments.h"
#include "lowering/strides.h"

namespace opentrn::lowering {
namespace {

bool is_rare(DType dtype) {
  switch (dtype) {
    case DType::U16:
    case DType::U32:
    case DType::U64:
    case DType::F8E4M3FN:
    case DType::F8E5M2:
    case DType::F8E4M3FNUZ:
    case DType::F8E5M2FNUZ:
    case DType::F8E8M0FNU: return true;
    default: return false;
  }
}

char category_letter(DType dtype) {
  if (dtype == DType::C32) return 'h';
  if (is_bool(dtype)) return 'b';
  if (is_integer(dtype)) return 'i';
  return is_float(dtype) ? 'f' : 'c';
}

}  // namespace

void check_types(const Context& context, DType dtype, std::string_view types) {
  if (is_rare(dtype) && types.find('x') == std::string_view::npos) {
    decline(concat("dtype ", info(dtype).torch_name));
  }
  if (types.find(category_letter(dtype)) != std::string_view::npos) return;
  context.refuse(ErrorKind::NotImplemented, {.what = concat("not implemented for '", scalar_type_name(dtype), "'"),
                                             .action = "convert the operands to a type this operator takes"});
}

Dims broadcast_of_tensors(const Call& call) {
  Dims shape;
  const auto merge = [&](const TensorArgument& tensor) {
    Dims merged;
    if (!broadcast_shapes(shape, tensor.type.shape, merged)) {
      raise(ErrorKind::Runtime, {.where = call.operator_name,
                                 .what = "the operands' shapes do not broadcast: the size of one tensor must match the "
                                         "size of the other at each dimension",
                                 .got = to_string(shape) + " and " + to_string(tensor.type.shape),
                                 .expected = "equal sizes or 1 in each dimension, counted from the last",
                                 .action = "reshape or expand one of them"});
    }
    shape = std::move(merged);
  };
  for (const auto& argument : call.arguments) {
    if (const auto* tensor = std::get_if<TensorArgument>(&argument.value)) merge(*tensor);
    if (const auto* list = std::get_if<TensorList>(&argument.value)) {
      for (const auto& tensor : *list) {
        if (tensor) merge(*tensor);
      }
    }
  }
  return shape;
}

DType inexact_dtype(const Context& context, DType dtype) {
  return is_integral(dtype) ? context.call.default_dtype : dtype;
}

Operands promote_operands(Context& context, Promotion promotion, std::string_view types, bool wide_scalars) {
  const Call& call = context.call;
  Operands operands;
  operands.dtype = common_dtype(call);
  if (promotion == Promotion::Float) operands.dtype = inexact_dtype(context, operands.dtype);
  check_types(context, operands.dtype, types);
  operands.compute = compute_dtype(operands.dtype);
  operands.shape = broadcast_of_tensors(call);
  const auto push = [&](ir::Value value) {
    const bool wide =
        wide_scalars && is_float(operands.dtype) && !operands.values.empty() && context.b.rank(value) == 0;
    if (!wide) value = context.b.convert(value, operands.dtype);
    operands.values.push_back(context.b.broadcast_to(context.b.convert(value, operands.compute), operands.shape));
  };
  for (const auto& argument : call.arguments) {
    if (const auto* tensor = std::get_if<TensorArgument>(&argument.value)) push(tensor->value);
    if (const auto* scalar = std::get_if<ScalarArgument>(&argument.value)) {
      // Scalars that do not take part in promotion have to fit the type the others have.
      const bool fits = is_promoting(argument.name);
      push(fits ? scalar->value : checked_convert(context, scalar->value, operands.compute));
    }
  }
  return operands;
}

ir::Value compute_value(Context& context, std::string_view name) {
  return context.value(name, compute_dtype(context.tensor(name).type.dtype));
}

ir::Value scalar_like(Context& context, std::string_view name, ir::Value like) {
  return context.b.broadcast_to(context.scalar_value(name, context.b.dtype(like)), context.b.shape(like));
}

ir::Value rounded_scalar_like(Context& context, std::string_view name, DType storage, ir::Value like) {
  const ir::Value rounded = context.b.convert(context.scalar_value(name, storage), context.b.dtype(like));
  return context.b.broadcast_to(rounded, context.b.shape(like));
}

ir::Value compare_with(ir::Builder& b, ir::ComparisonDirection direction, ir::Value x, double constant) {
  return b.compare(direction, x, b.splat_like(x, constant));
}

ir::Value select_constant(ir::Builder& b, ir::Value condition, double on_true, ir::Value on_false) {
  return b.select(condition, b.splat_like(on_false, on_true), on_false);
}

int64_t count_of(const Dims& shape, const Dims& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= shape[static_cast<size_t>(dim)];
  return count;
}

Dims reduced_shape(const Dims& shape, const Dims& dims, bool keepdim) {
  Dims result;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool reduced = std::find(dims.begin(), dims.end(), static_cast<int64_t>(i)) != dims.end();
    if (!reduced) result.push_back(shape[i]);
    if (reduced && keepdim) result.push_back(1);
  }
  return result;
}

ir::Value keep_dims(ir::Builder& b, ir::Value reduced, const Dims& shape, const Dims& dims, bool keepdim) {
  return b.reshape(reduced, reduced_shape(shape, dims, keepdim));
}

ir::Value expand_reduced(ir::Builder& b, ir::Value reduced, const Dims& shape, const Dims& dims) {
  Dims kept;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i) {
    if (std::find(dims.begin(), dims.end(), i) == dims.end()) kept.push_back(i);
  }
  return b.broadcast_in_dim(reduced, shape, kept);
}

ir::Value along(ir::Builder& b, ir::Value vector, const Dims& shape, int64_t dim) {
  return b.broadcast_in_dim(vector, shape, {dim});
}

ir::Op extreme_op(ir::Op op, DType dtype) {
  if (!is_bool(dtype)) return op;
  return op == ir::Op::Maximum ? ir::Op::Or : ir::Op::And;
}

ir::Value mean_over(ir::Builder& b, ir::Value x, const Dims& dims) {
  const ir::Value sum = b.reduce(x, ir::Op::Add, dims);
  return b.divide(sum, b.splat_like(sum, static_cast<double>(count_of(b.shape(x), dims))));
}

Moments moments(ir::Builder& b, ir::Value x, const Dims& dims) {
  const Dims shape = b.shape(x);
  const ir::Value rough = mean_over(b, x, dims);
  const ir::Value deviation = b.subtract(x, expand_reduced(b, rough, shape, dims));
  // The rounding error of the mean is the mean of these deviations, and that one is small enough to be known precisely.
  const ir::Value drift = b.reduce(deviation, ir::Op::Add, dims);
  const ir::Value count = b.splat_like(drift, static_cast<double>(count_of(shape, dims)));
  const ir::Value correction = b.divide(drift, count);
  const ir::Value squares = b.reduce(b.multiply(deviation, deviation), ir::Op::Add, dims);
  const ir::Value corrected = b.subtract(squares, b.multiply(drift, correction));
  return {b.add(rough, correction), b.maximum(corrected, b.splat_like(corrected, 0.0)),
          b.subtract(deviation, expand_reduced(b, correction, shape, dims))};
}

Dims strides_by(const Context& context, const Dims& shape, std::span<const std::string_view> operands) {
  std::vector<TensorArgument> tensors;
  for (const std::string_view name : operands) tensors.push_back(context.tensor(name));
  return elementwise_strides(shape, tensors);
}

ir::Value truncate(ir::Builder& b, ir::Value x) {
  return b.select(compare_with(b, ir::ComparisonDirection::LT, x, 0.0), b.ceil(x), b.floor(x));
}

Dims is_one(std::span<const ScalarValue> scalars, std::string_view name) {
  for (const ScalarValue& scalar : scalars) {
    if (scalar.name == name) return {scalar.number == std::complex<double>(1.0) ? 1 : 0};
  }
  return {0};
}

std::string_view scalar_type_name(DType dtype) {
  switch (dtype) {
    case DType::Bool: return "Bool";
    case DType::U8: return "Byte";
    case DType::I8: return "Char";
    case DType::U16: return "UInt16";
    case DType::I16: return "Short";
    case DType::U32: return "UInt32";
    case DType::I32: return "Int";
    case DType::U64: return "UInt64";
    case DType::I64: return "Long";
    case DType::F8E4M3FN: return "Float8_e4m3fn";
    case DType::F8E5M2: return "Float8_e5m2";
    case DType::F8E4M3FNUZ: return "Float8_e4m3fnuz";
    case DType::F8E5M2FNUZ: return "Float8_e5m2fnuz";
    case DType::F8E8M0FNU: return "Float8_e8m0fnu";
    case DType::F16: return "Half";
    case DType::BF16: return "BFloat16";
    case DType::F32: return "Float";
    case DType::F64: return "Double";
    case DType::C32: return "ComplexHalf";
    case DType::C64: return "ComplexFloat";
    case DType::C128: return "ComplexDouble";
  }
  __builtin_unreachable();
}

}  // namespace opentrn::lowering
