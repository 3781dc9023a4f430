#include <algorithm>
#include <array>

#include "ir/constants.h"
#include "passes/passes.h"
#include "passes/rewriter.h"

namespace opentrn::passes {

namespace {

using ir::Op;
using ir::Value;

// Binary primitives that give back one operand when the other is a certain splat. Adding 0.0 is not among them (it
// turns -0.0 into 0.0) and adding -0.0 is; complex numbers have none (infinities make NaNs of a zero imaginary part).
struct Neutral {
  Op op;
  double value;
  bool left_too;  // or only as the right operand
  bool floats;
  bool integers;
};

constexpr std::array<Neutral, 7> kNeutral{{
    {Op::Add, -0.0, true, true, false},
    {Op::Add, 0, true, false, true},
    {Op::Subtract, 0.0, false, true, true},
    {Op::Multiply, 1, true, true, true},
    {Op::Divide, 1, false, true, true},
    {Op::Or, 0, true, false, true},
    {Op::Xor, 0, true, false, true},
}};

bool is_splat_of(const Rewriter& rewriter, Value value, double number) {
  const std::vector<std::byte>* data = rewriter.splat(value);
  return data != nullptr && *data == ir::element_bytes(rewriter.type(value).dtype, number);
}

Value without_neutral(const Rewriter& rewriter, const ir::Node& node) {
  const DType dtype = rewriter.type(node.operands[0]).dtype;
  if (dtype == DType::F8E8M0FNU) return {};  // has no zero
  for (const Neutral& row : kNeutral) {
    if (row.op != node.op || !((row.floats && is_float(dtype)) || (row.integers && is_integer(dtype)))) continue;
    if (is_splat_of(rewriter, node.operands[1], row.value)) return node.operands[0];
    if (row.left_too && is_splat_of(rewriter, node.operands[0], row.value)) return node.operands[1];
  }
  return {};
}

Value simplify_select(const Rewriter& rewriter, const ir::Node& node) {
  if (node.operands[1] == node.operands[2]) return node.operands[1];
  const std::vector<std::byte>* predicate = rewriter.splat(node.operands[0]);
  if (predicate == nullptr) return {};
  return predicate->front() != std::byte{0} ? node.operands[1] : node.operands[2];
}

bool is_whole(const ir::SliceAttributes& slice, const Dims& shape) {
  const auto all = [](const Dims& dims, int64_t value) {
    return std::all_of(dims.begin(), dims.end(), [value](int64_t entry) { return entry == value; });
  };
  return slice.limit_indices == shape && all(slice.start_indices, 0) && all(slice.strides, 1);
}

// outer[inner[i]]
Dims composed(const Dims& inner, const Dims& outer) {
  Dims result;
  result.reserve(inner.size());
  for (const int64_t dimension : inner) result.push_back(outer[static_cast<size_t>(dimension)]);
  return result;
}

// Bits of integer that a float of the type holds exactly.
int64_t exact_bits(DType dtype) {
  switch (dtype) {
    case DType::BF16: return 8;
    case DType::F16: return 11;
    case DType::F32: return 24;
    case DType::F64: return 53;
    default: return 0;
  }
}

// True when every value of `from` is a value of `to`.
bool is_lossless(DType from, DType to) {
  if (from == to) return true;
  if (is_bool(from)) return is_integer(to) || exact_bits(to) > 0;
  if (is_integer(from)) {
    const bool is_signed = category(from) == Category::Signed;
    const int64_t bits = 8 * size_of(from) - (is_signed ? 1 : 0);
    if (is_float(to)) return bits <= exact_bits(to);
    if (!is_integer(to) || size_of(to) <= size_of(from)) return false;
    return !is_signed || category(to) == Category::Signed;
  }
  if (!is_float(from) || !is_float(to)) return false;
  return (size_of(from) < 4 && to == DType::F32) || (size_of(from) < 8 && to == DType::F64);
}

// A chain of two nodes of one kind becomes one: the node reads what its producer reads.
void join_chain(const Rewriter& rewriter, ir::Node& node) {
  const ir::Node* inner = rewriter.producer(node.operands[0], node.op);
  if (inner == nullptr) return;
  switch (node.op) {
    case Op::Convert:
      if (!is_lossless(rewriter.type(inner->operands[0]).dtype, rewriter.type(node.operands[0]).dtype)) return;
      break;
    case Op::Reshape: break;
    case Op::Transpose:
      node.attributes = ir::TransposeAttributes{
          composed(node.as<ir::TransposeAttributes>().permutation, inner->as<ir::TransposeAttributes>().permutation)};
      break;
    case Op::BroadcastInDim:
      node.attributes = ir::BroadcastAttributes{composed(inner->as<ir::BroadcastAttributes>().broadcast_dimensions,
                                                         node.as<ir::BroadcastAttributes>().broadcast_dimensions)};
      break;
    default: return;
  }
  node.operands[0] = inner->operands[0];
}

// The value that a node of one operand gives back unchanged, or none.
Value unchanged_operand(const Rewriter& rewriter, const ir::Node& node) {
  const Value operand = node.operands[0];
  if (!(rewriter.type(operand) == rewriter.type(node.results[0]))) return {};
  switch (node.op) {
    case Op::Convert:
    case Op::BitcastConvert:
    case Op::Reshape: return operand;
    case Op::Concatenate: return node.operands.size() == 1 ? operand : Value{};
    case Op::Transpose: return is_identity(node.as<ir::TransposeAttributes>().permutation) ? operand : Value{};
    case Op::BroadcastInDim:
      return is_identity(node.as<ir::BroadcastAttributes>().broadcast_dimensions) ? operand : Value{};
    case Op::Slice: return is_whole(node.as<ir::SliceAttributes>(), rewriter.type(operand).shape) ? operand : Value{};
    case Op::Reverse: return node.as<ir::ReverseAttributes>().dimensions.empty() ? operand : Value{};
    default: return {};
  }
}

Value simplified(const Rewriter& rewriter, ir::Node& node) {
  if (node.operands.empty() || node.results.empty()) return {};
  if (node.op == Op::Select) return simplify_select(rewriter, node);
  if (node.operands.size() == 2 && ir::is_elementwise(node.op)) return without_neutral(rewriter, node);
  join_chain(rewriter, node);
  return unchanged_operand(rewriter, node);
}

}  // namespace

void simplify(ir::Graph& graph) {
  Rewriter rewriter(graph);
  rewriter.walk([&](ir::Node& node) {
    const Value value = simplified(rewriter, node);
    if (value.valid()) rewriter.replace(node.results[0], value);
  });
}

}  // namespace opentrn::passes
