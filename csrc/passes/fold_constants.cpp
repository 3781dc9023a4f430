// Only splats are folded: one element of arithmetic, whatever the size of the tensor. Only operations whose result is
// fixed by IEEE 754 or by integer arithmetic are, so that every engine would have computed the same bits.
#include <cmath>
#include <cstring>
#include <optional>

#include "base/convert.h"
#include "ir/constants.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace opentrn::passes {

namespace {

using Bytes = std::vector<std::byte>;

template <typename T>
T load(const Bytes& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <typename T>
Bytes store(T value) {
  Bytes bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <typename T>
std::optional<T> combine_floats(ir::Op op, T left, T right) {
  switch (op) {
    case ir::Op::Add: return left + right;
    case ir::Op::Subtract: return left - right;
    case ir::Op::Multiply: return left * right;
    case ir::Op::Divide: return left / right;
    default: return std::nullopt;
  }
}

// Through the unsigned type, whose overflow wraps; 64 bits wide, for a product of narrower ones must not overflow an
// int.
template <typename T>
std::optional<T> combine_integers(ir::Op op, T left, T right) {
  const auto a = static_cast<uint64_t>(left);
  const auto b = static_cast<uint64_t>(right);
  switch (op) {
    case ir::Op::Add: return static_cast<T>(a + b);
    case ir::Op::Subtract: return static_cast<T>(a - b);
    case ir::Op::Multiply: return static_cast<T>(a * b);
    case ir::Op::Maximum: return left < right ? right : left;
    case ir::Op::Minimum: return right < left ? right : left;
    default: return std::nullopt;
  }
}

template <typename T>
std::optional<Bytes> combine(ir::Op op, const Bytes& left, const Bytes& right) {
  if constexpr (std::is_floating_point_v<T> || is_narrow_float_type<T>) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const auto wide = combine_floats<Wide>(op, load<T>(left), load<T>(right));
    if (!wide || std::isnan(*wide)) return std::nullopt;  // the sign of a NaN depends on the machine
    return store(static_cast<T>(*wide));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const auto value = combine_integers<T>(op, load<T>(left), load<T>(right));
    return value ? std::optional(store(*value)) : std::nullopt;
  } else {
    return std::nullopt;
  }
}

Bytes convert(const Bytes& bytes, DType from, DType to) {
  Bytes result(static_cast<size_t>(size_of(to)));
  convert_strided(bytes.data(), from, {}, result.data(), to, {}, {});
  return result;
}

std::optional<Bytes> fold_unary(const Rewriter& rewriter, const ir::Node& node, const Bytes& operand) {
  switch (node.op) {
    case ir::Op::BroadcastInDim:
    case ir::Op::Reshape:
    case ir::Op::Reverse:
    case ir::Op::Slice:
    case ir::Op::Transpose: return operand;
    case ir::Op::Convert:
      return convert(operand, rewriter.type(node.operands[0]).dtype, rewriter.type(node.results[0]).dtype);
    default: return std::nullopt;
  }
}

std::optional<Bytes> fold(const Rewriter& rewriter, const ir::Node& node) {
  if (node.operands.empty() || node.operands.size() > 2 || node.results.size() != 1) return std::nullopt;
  const Bytes* left = rewriter.splat(node.operands[0]);
  if (left == nullptr) return std::nullopt;
  if (node.operands.size() == 1) return fold_unary(rewriter, node, *left);
  const Bytes* right = rewriter.splat(node.operands[1]);
  if (right == nullptr || !ir::is_elementwise(node.op)) return std::nullopt;
  return visit_dtype(rewriter.type(node.operands[0]).dtype,
                     [&]<typename T>() { return combine<T>(node.op, *left, *right); });
}

}  // namespace

void fold_constants(ir::Graph& graph) {
  Rewriter rewriter(graph);
  rewriter.walk([&](ir::Node& node) {
    std::optional<Bytes> data = fold(rewriter, node);
    if (!data) return;
    const ir::TensorType& type = rewriter.type(node.results[0]);
    node.op = ir::Op::Constant;
    node.operands.clear();
    node.attributes = ir::ConstantAttributes{ir::normalised_data(type, std::move(*data))};
  });
}

}  // namespace opentrn::passes
