// Element-wise primitives: which element types each takes, and the type it gives.
#include <array>

#include "ir/inference_rules.h"

namespace opentrn::ir {

namespace {

// Sets of element types, one bit per category.
enum Accepts : unsigned {
  kBool = 1u << static_cast<unsigned>(Category::Bool),
  kUnsigned = 1u << static_cast<unsigned>(Category::Unsigned),
  kSigned = 1u << static_cast<unsigned>(Category::Signed),
  kFloat = 1u << static_cast<unsigned>(Category::Float),
  kComplex = 1u << static_cast<unsigned>(Category::Complex),
  kInteger = kUnsigned | kSigned,
  kInexact = kFloat | kComplex,
  kNumber = kInteger | kInexact,
  kOrdered = kBool | kInteger | kFloat,
  kAny = kBool | kNumber,
};

struct Rule {
  Op op;
  unsigned accepts;
};

constexpr std::array<Rule, 62> kRules{{
    {Op::Abs, kSigned | kInexact},
    {Op::Acos, kInexact},
    {Op::Acosh, kInexact},
    {Op::Asin, kInexact},
    {Op::Asinh, kInexact},
    {Op::Atan, kInexact},
    {Op::Atanh, kInexact},
    {Op::BesselI1e, kFloat},
    {Op::BitcastConvert, kNumber},
    {Op::Cbrt, kInexact},
    {Op::Ceil, kFloat},
    {Op::Convert, kAny},
    {Op::Cosh, kInexact},
    {Op::Cosine, kInexact},
    {Op::CountLeadingZeros, kInteger},
    {Op::Digamma, kFloat},
    {Op::Erf, kFloat},
    {Op::ErfInv, kFloat},
    {Op::Erfc, kFloat},
    {Op::Exponential, kInexact},
    {Op::ExponentialMinusOne, kInexact},
    {Op::Floor, kFloat},
    {Op::Imag, kInexact},
    {Op::IsFinite, kFloat},
    {Op::Lgamma, kFloat},
    {Op::Log, kInexact},
    {Op::LogPlusOne, kInexact},
    {Op::Logistic, kInexact},
    {Op::Negate, kNumber},
    {Op::Not, kBool | kInteger},
    {Op::PopulationCount, kInteger},
    {Op::Real, kInexact},
    {Op::ReducePrecision, kFloat},
    {Op::RoundNearestAfz, kFloat},
    {Op::RoundNearestEven, kFloat},
    {Op::Rsqrt, kInexact},
    {Op::Sign, kSigned | kInexact},
    {Op::Sine, kInexact},
    {Op::Sinh, kInexact},
    {Op::Sqrt, kInexact},
    {Op::Tan, kInexact},
    {Op::Tanh, kInexact},
    {Op::Add, kAny},
    {Op::And, kBool | kInteger},
    {Op::Atan2, kInexact},
    {Op::Compare, kAny},
    {Op::Complex, kFloat},
    {Op::Divide, kNumber},
    {Op::Maximum, kOrdered},
    {Op::Minimum, kOrdered},
    {Op::Multiply, kAny},
    {Op::NextAfter, kFloat},
    {Op::Or, kBool | kInteger},
    {Op::Power, kNumber},
    {Op::Remainder, kInteger | kFloat},
    {Op::ShiftLeft, kInteger},
    {Op::ShiftRightArithmetic, kInteger},
    {Op::ShiftRightLogical, kInteger},
    {Op::Subtract, kNumber},
    {Op::Xor, kBool | kInteger},
    {Op::Clamp, kOrdered},
    {Op::Select, kAny},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<size_t>(kRules[i].op) != i) return false;
  }
  return true;
}
static_assert(in_order());

bool accepts(Op op, DType dtype) {
  const unsigned bit = 1u << static_cast<unsigned>(category(dtype));
  return (kRules[static_cast<size_t>(op)].accepts & bit) != 0;
}

std::string accepted_types(Op op) {
  constexpr std::array<std::string_view, 5> names{"bool", "unsigned integer", "signed integer", "float", "complex"};
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if ((kRules[static_cast<size_t>(op)].accepts & (1u << i)) == 0) continue;
    if (!text.empty()) text += " or ";
    text += names[i];
  }
  return text + " elements";
}

void require_accepted(Op op, size_t index, const TensorType& type) {
  if (accepts(op, type.dtype)) return;
  refuse(op, operand_name(index) + " has a wrong element type", to_string(type), accepted_types(op));
}

void require_same_type(Op op, size_t index, const TensorType& type, const TensorType& first, size_t first_index = 0) {
  if (type == first) return;
  refuse(op, operand_name(index) + " has another type than " + operand_name(first_index), to_string(type),
         to_string(first), "convert or broadcast it first");
}

// A 0-dimensional tensor may stand for a whole one here.
void require_same_or_scalar(Op op, size_t index, const TensorType& type, const TensorType& whole, size_t whole_index) {
  if (type.dtype == whole.dtype && type.rank() == 0) return;
  require_same_type(op, index, type, whole, whole_index);
}

TensorType infer_bitcast(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  const DType dtype = declared_type(query).dtype;
  if (is_bool(dtype) || is_complex(dtype) != is_complex(operand.dtype)) {
    refuse(query.op, "the result has a wrong element type", std::string(name(dtype)),
           is_complex(operand.dtype) ? "complex elements" : "integer or float elements");
  }
  const int64_t from = size_of(operand.dtype);
  const int64_t to = size_of(dtype);
  TensorType result{dtype, operand.shape};
  if (to < from) result.shape.push_back(from / to);
  if (to > from) {
    if (result.shape.empty() || result.shape.back() != to / from) {
      refuse(query.op, "the last dimension of operand 0 does not fill one element of the result", to_string(operand),
             concat("a last dimension of ", to / from));
    }
    result.shape.pop_back();
  }
  return result;
}

TensorType infer_reduce_precision(const InferenceQuery& query) {
  const auto& [exponent_bits, mantissa_bits] = attributes_of<ReducePrecisionAttributes>(query);
  if (exponent_bits < 1 || mantissa_bits < 0) {
    refuse(query.op, "the format is impossible", concat("e", exponent_bits, "m", mantissa_bits),
           "exponent_bits of at least 1 and mantissa_bits of at least 0");
  }
  return *query.operands[0];
}

TensorType infer_unary(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  switch (query.op) {
    case Op::ReducePrecision: return infer_reduce_precision(query);
    case Op::Convert: return {declared_type(query).dtype, operand.shape};
    case Op::BitcastConvert: return infer_bitcast(query);
    case Op::IsFinite: return {DType::Bool, operand.shape};
    case Op::Abs:
    case Op::Imag:
    case Op::Real: return {real_dtype(operand.dtype), operand.shape};
    default: return operand;
  }
}

TensorType infer_compare(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  const ComparisonDirection direction = attributes_of<CompareAttributes>(query).direction;
  const bool equality = direction == ComparisonDirection::EQ || direction == ComparisonDirection::NE;
  if (is_complex(operand.dtype) && !equality) {
    refuse(query.op, "complex numbers have no order", to_string(operand), "direction EQ or NE");
  }
  return {DType::Bool, operand.shape};
}

TensorType infer_complex(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  for (const DType dtype : {DType::C32, DType::C64, DType::C128}) {
    if (real_dtype(dtype) == operand.dtype) return {dtype, operand.shape};
  }
  refuse(query.op, "operand 0 has a wrong element type", to_string(operand), "f16, f32 or f64 elements");
}

TensorType infer_binary(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[0];
  require_same_type(query.op, 1, *query.operands[1], operand);
  if (query.op == Op::Compare) return infer_compare(query);
  if (query.op == Op::Complex) return infer_complex(query);
  return operand;
}

TensorType infer_clamp(const InferenceQuery& query) {
  const TensorType& operand = *query.operands[1];
  require_accepted(query.op, 1, operand);
  require_same_or_scalar(query.op, 0, *query.operands[0], operand, 1);
  require_same_or_scalar(query.op, 2, *query.operands[2], operand, 1);
  return operand;
}

TensorType infer_select(const InferenceQuery& query) {
  const TensorType& on_true = *query.operands[1];
  require_same_or_scalar(query.op, 0, *query.operands[0], TensorType{DType::Bool, on_true.shape}, 1);
  require_same_type(query.op, 2, *query.operands[2], on_true, 1);
  return on_true;
}

}  // namespace

bool is_reducer(Op reducer, DType dtype) {
  switch (reducer) {
    case Op::Add:
    case Op::Multiply:
    case Op::Maximum:
    case Op::Minimum:
    case Op::And:
    case Op::Or:
    case Op::Xor: return accepts(reducer, dtype);
    default: return false;
  }
}

std::vector<TensorType> infer_elementwise(const InferenceQuery& query) {
  if (query.op == Op::Clamp) return {infer_clamp(query)};
  if (query.op == Op::Select) return {infer_select(query)};
  require_accepted(query.op, 0, *query.operands[0]);
  return {query.operands.size() == 1 ? infer_unary(query) : infer_binary(query)};
}

}  // namespace opentrn::ir
