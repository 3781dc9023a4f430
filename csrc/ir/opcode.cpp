#include "ir/opcode.h"

#include <array>

namespace opentrn::ir {

namespace {

constexpr std::array<OpInfo, 90> kCatalogue{{
    {Op::Abs, "stablehlo.abs", 1, OpClass::Elementwise},
    {Op::Acos, "chlo.acos", 1, OpClass::Elementwise},
    {Op::Acosh, "chlo.acosh", 1, OpClass::Elementwise},
    {Op::Asin, "chlo.asin", 1, OpClass::Elementwise},
    {Op::Asinh, "chlo.asinh", 1, OpClass::Elementwise},
    {Op::Atan, "chlo.atan", 1, OpClass::Elementwise},
    {Op::Atanh, "chlo.atanh", 1, OpClass::Elementwise},
    {Op::BesselI1e, "chlo.bessel_i1e", 1, OpClass::Elementwise},
    {Op::BitcastConvert, "stablehlo.bitcast_convert", 1, OpClass::Elementwise},
    {Op::Cbrt, "stablehlo.cbrt", 1, OpClass::Elementwise},
    {Op::Ceil, "stablehlo.ceil", 1, OpClass::Elementwise},
    {Op::Convert, "stablehlo.convert", 1, OpClass::Elementwise},
    {Op::Cosh, "chlo.cosh", 1, OpClass::Elementwise},
    {Op::Cosine, "stablehlo.cosine", 1, OpClass::Elementwise},
    {Op::CountLeadingZeros, "stablehlo.count_leading_zeros", 1, OpClass::Elementwise},
    {Op::Digamma, "chlo.digamma", 1, OpClass::Elementwise},
    {Op::Erf, "chlo.erf", 1, OpClass::Elementwise},
    {Op::ErfInv, "chlo.erf_inv", 1, OpClass::Elementwise},
    {Op::Erfc, "chlo.erfc", 1, OpClass::Elementwise},
    {Op::Exponential, "stablehlo.exponential", 1, OpClass::Elementwise},
    {Op::ExponentialMinusOne, "stablehlo.exponential_minus_one", 1, OpClass::Elementwise},
    {Op::Floor, "stablehlo.floor", 1, OpClass::Elementwise},
    {Op::Imag, "stablehlo.imag", 1, OpClass::Elementwise},
    {Op::IsFinite, "stablehlo.is_finite", 1, OpClass::Elementwise},
    {Op::Lgamma, "chlo.lgamma", 1, OpClass::Elementwise},
    {Op::Log, "stablehlo.log", 1, OpClass::Elementwise},
    {Op::LogPlusOne, "stablehlo.log_plus_one", 1, OpClass::Elementwise},
    {Op::Logistic, "stablehlo.logistic", 1, OpClass::Elementwise},
    {Op::Negate, "stablehlo.negate", 1, OpClass::Elementwise},
    {Op::Not, "stablehlo.not", 1, OpClass::Elementwise},
    {Op::PopulationCount, "stablehlo.popcnt", 1, OpClass::Elementwise},
    {Op::Real, "stablehlo.real", 1, OpClass::Elementwise},
    {Op::ReducePrecision, "stablehlo.reduce_precision", 1, OpClass::Elementwise},
    {Op::RoundNearestAfz, "stablehlo.round_nearest_afz", 1, OpClass::Elementwise},
    {Op::RoundNearestEven, "stablehlo.round_nearest_even", 1, OpClass::Elementwise},
    {Op::Rsqrt, "stablehlo.rsqrt", 1, OpClass::Elementwise},
    {Op::Sign, "stablehlo.sign", 1, OpClass::Elementwise},
    {Op::Sine, "stablehlo.sine", 1, OpClass::Elementwise},
    {Op::Sinh, "chlo.sinh", 1, OpClass::Elementwise},
    {Op::Sqrt, "stablehlo.sqrt", 1, OpClass::Elementwise},
    {Op::Tan, "stablehlo.tan", 1, OpClass::Elementwise},
    {Op::Tanh, "stablehlo.tanh", 1, OpClass::Elementwise},
    {Op::Add, "stablehlo.add", 2, OpClass::Elementwise},
    {Op::And, "stablehlo.and", 2, OpClass::Elementwise},
    {Op::Atan2, "stablehlo.atan2", 2, OpClass::Elementwise},
    {Op::Compare, "stablehlo.compare", 2, OpClass::Elementwise},
    {Op::Complex, "stablehlo.complex", 2, OpClass::Elementwise},
    {Op::Divide, "stablehlo.divide", 2, OpClass::Elementwise},
    {Op::Maximum, "stablehlo.maximum", 2, OpClass::Elementwise},
    {Op::Minimum, "stablehlo.minimum", 2, OpClass::Elementwise},
    {Op::Multiply, "stablehlo.multiply", 2, OpClass::Elementwise},
    {Op::NextAfter, "chlo.next_after", 2, OpClass::Elementwise},
    {Op::Or, "stablehlo.or", 2, OpClass::Elementwise},
    {Op::Power, "stablehlo.power", 2, OpClass::Elementwise},
    {Op::Remainder, "stablehlo.remainder", 2, OpClass::Elementwise},
    {Op::ShiftLeft, "stablehlo.shift_left", 2, OpClass::Elementwise},
    {Op::ShiftRightArithmetic, "stablehlo.shift_right_arithmetic", 2, OpClass::Elementwise},
    {Op::ShiftRightLogical, "stablehlo.shift_right_logical", 2, OpClass::Elementwise},
    {Op::Subtract, "stablehlo.subtract", 2, OpClass::Elementwise},
    {Op::Xor, "stablehlo.xor", 2, OpClass::Elementwise},
    {Op::Clamp, "stablehlo.clamp", 3, OpClass::Elementwise},
    {Op::Select, "stablehlo.select", 3, OpClass::Elementwise},
    {Op::BroadcastInDim, "stablehlo.broadcast_in_dim", 1, OpClass::Data},
    {Op::Concatenate, "stablehlo.concatenate", -1, OpClass::Data},
    {Op::Constant, "stablehlo.constant", 0, OpClass::Data},
    {Op::DynamicSlice, "stablehlo.dynamic_slice", -1, OpClass::Data},
    {Op::DynamicUpdateSlice, "stablehlo.dynamic_update_slice", -1, OpClass::Data},
    {Op::Gather, "stablehlo.gather", 2, OpClass::Data},
    {Op::Iota, "stablehlo.iota", 0, OpClass::Data},
    {Op::Pad, "stablehlo.pad", 2, OpClass::Data},
    {Op::Reshape, "stablehlo.reshape", 1, OpClass::Data},
    {Op::Reverse, "stablehlo.reverse", 1, OpClass::Data},
    {Op::Scatter, "stablehlo.scatter", -1, OpClass::Data},
    {Op::Slice, "stablehlo.slice", 1, OpClass::Data},
    {Op::Transpose, "stablehlo.transpose", 1, OpClass::Data},
    {Op::Case, "stablehlo.case", -1, OpClass::Compute},
    {Op::Cholesky, "stablehlo.cholesky", 1, OpClass::Compute},
    {Op::Convolution, "stablehlo.convolution", 2, OpClass::Compute},
    {Op::CustomCall, "stablehlo.custom_call", -1, OpClass::Compute},
    {Op::DotGeneral, "stablehlo.dot_general", 2, OpClass::Compute},
    {Op::Fft, "stablehlo.fft", 1, OpClass::Compute},
    {Op::If, "stablehlo.if", -1, OpClass::Compute},
    {Op::Map, "stablehlo.map", -1, OpClass::Compute},
    {Op::Reduce, "stablehlo.reduce", -1, OpClass::Compute},
    {Op::ReduceWindow, "stablehlo.reduce_window", -1, OpClass::Compute},
    {Op::RngBitGenerator, "stablehlo.rng_bit_generator", 1, OpClass::Compute},
    {Op::SelectAndScatter, "stablehlo.select_and_scatter", -1, OpClass::Compute},
    {Op::Sort, "stablehlo.sort", -1, OpClass::Compute},
    {Op::TriangularSolve, "stablehlo.triangular_solve", 2, OpClass::Compute},
    {Op::While, "stablehlo.while", -1, OpClass::Compute},
}};

constexpr bool in_order() {
  for (size_t i = 0; i < kCatalogue.size(); ++i) {
    if (static_cast<size_t>(kCatalogue[i].op) != i) return false;
  }
  return kCatalogue.back().op == Op::While;
}
static_assert(in_order());

}  // namespace

std::span<const OpInfo> catalogue() { return kCatalogue; }

const OpInfo& info(Op op) { return kCatalogue[static_cast<size_t>(op)]; }

std::optional<Op> op_from_name(std::string_view name) {
  for (const OpInfo& row : kCatalogue) {
    if (row.name == name) return row.op;
  }
  return std::nullopt;
}

}  // namespace opentrn::ir
