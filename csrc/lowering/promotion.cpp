#include "lowering/promotion.h"

#include <algorithm>

namespace opentrn::lowering {
namespace {

/// Order of categories in promotion: bool < integer < float < complex.
int level(DType dtype) {
  if (is_complex(dtype)) return 3;
  if (is_float(dtype)) return 2;
  return is_integer(dtype) ? 1 : 0;
}

/// A lower rank changes the type only with a higher category, and then keeps the width of a floating type.
DType combine(DType higher, DType lower) {
  if (level(lower) <= level(higher)) return higher;
  if (!is_float(higher)) return promote_types(higher, lower);
  if (higher == DType::F64) return DType::C128;
  return higher == DType::F16 ? DType::C32 : DType::C64;
}

void merge(std::optional<DType>& slot, DType dtype) { slot = slot ? promote_types(*slot, dtype) : dtype; }

DType promote_integers(DType left, DType right) {
  if (is_bool(left)) return right;
  if (is_bool(right)) return left;
  const bool left_signed = category(left) == Category::Signed;
  const bool right_signed = category(right) == Category::Signed;
  if (left_signed == right_signed) return size_of(left) >= size_of(right) ? left : right;
  const DType unsigned_type = left_signed ? right : left;
  const DType signed_type = left_signed ? left : right;
  if (unsigned_type != DType::U8) {
    raise(ErrorKind::Runtime, {.where = "promote_types",
                               .what = concat("Promotion for uint16, uint32, uint64 types is not supported, attempted "
                                              "to promote ",
                                              info(left).torch_name, " and ", info(right).torch_name),
                               .action = "convert one operand first"});
  }
  return signed_type == DType::I8 ? DType::I16 : signed_type;
}

DType promote_floats(DType left, DType right) {
  if (left == right) return left;
  if (size_of(left) == 1 || size_of(right) == 1) {
    raise(ErrorKind::Runtime, {.where = "promote_types",
                               .what = concat("Promotion for Float8 Types is not supported, attempted to promote ",
                                              info(left).torch_name, " and ", info(right).torch_name),
                               .action = "convert one operand first"});
  }
  if (size_of(left) == size_of(right)) return DType::F32;  // float16 with bfloat16
  return size_of(left) > size_of(right) ? left : right;
}

DType promote_complex(DType left, DType right) {
  const auto parts = [](DType dtype) { return is_complex(dtype) ? real_dtype(dtype) : dtype; };
  const auto widened = [](DType dtype) { return dtype == DType::BF16 ? DType::F32 : dtype; };
  DType part;
  if (!is_complex(left)) {
    part = is_float(left) ? promote_floats(widened(left), parts(right)) : parts(right);
  } else if (!is_complex(right)) {
    part = is_float(right) ? promote_floats(parts(left), widened(right)) : parts(left);
  } else {
    part = promote_floats(parts(left), parts(right));
  }
  if (part == DType::F64) return DType::C128;
  return part == DType::F16 ? DType::C32 : DType::C64;
}

}  // namespace

bool is_promoting(std::string_view name) { return name == "other" || name == "exponent" || name == "self"; }

DType promote_types(DType left, DType right) {
  if (left == right) return left;
  if (is_complex(left) || is_complex(right)) return promote_complex(left, right);
  if (is_float(left)) return is_float(right) ? promote_floats(left, right) : left;
  if (is_float(right)) return right;
  return promote_integers(left, right);
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_float(from) && is_integral(to)) return false;
  if (!is_bool(from) && is_bool(to)) return false;
  return true;
}

void Promoter::add(const TensorArgument& tensor) {
  const DType dtype = tensor.type.dtype;
  if (!tensor.type.shape.empty()) return merge(dimensioned_, dtype);
  if (!tensor.wrapped_number) return merge(zero_dimensional_, dtype);
  if (is_complex(dtype)) return merge(wrapped_, default_dtype_ == DType::F64 ? DType::C128 : DType::C64);
  merge(wrapped_, is_float(dtype) ? default_dtype_ : dtype);
}

void Promoter::add(const ScalarArgument& scalar) {
  TensorArgument number;
  number.type.dtype = scalar.dtype;
  number.wrapped_number = true;
  add(number);
}

DType Promoter::result() const {
  std::optional<DType> result = dimensioned_;
  for (const auto& lower : {zero_dimensional_, wrapped_}) {
    if (!lower) continue;
    if (!result) {
      result = lower;
    } else {
      result = combine(*result, *lower);
    }
  }
  if (!result) raise(ErrorKind::Runtime, {.where = "result_type", .what = "no operand takes part in type promotion"});
  return *result;
}

DType common_dtype(const Call& call) {
  Promoter promoter(call.default_dtype);
  for (const auto& argument : call.arguments) {
    if (const auto* tensor = std::get_if<TensorArgument>(&argument.value)) promoter.add(*tensor);
    const auto* scalar = std::get_if<ScalarArgument>(&argument.value);
    if (scalar && is_promoting(argument.name)) promoter.add(*scalar);
    if (const auto* list = std::get_if<TensorList>(&argument.value)) {
      for (const auto& tensor : *list) {
        if (tensor) promoter.add(*tensor);
      }
    }
  }
  return promoter.result();
}

}  // namespace opentrn::lowering
