#include <string_view>
#include <unordered_map>

#include "passes/passes.h"
#include "passes/rewriter.h"

namespace opentrn::passes {

namespace {

class Hash {
 public:
  template <typename... Parts>
  size_t of(const Parts&... parts) {
    (add(parts), ...);
    return static_cast<size_t>(state_);
  }

 private:
  void add(uint64_t value) { state_ = (state_ ^ value) * 0x9E3779B97F4A7C15u ^ (state_ >> 29); }
  void add(int64_t value) { add(static_cast<uint64_t>(value)); }
  void add(bool value) { add(static_cast<uint64_t>(value)); }
  void add(ir::Op op) { add(static_cast<uint64_t>(op)); }
  void add(ir::ComparisonDirection direction) { add(static_cast<uint64_t>(direction)); }
  void add(const Dims& dims) {
    add(dims.size());
    for (const int64_t value : dims) add(value);
  }
  void add(std::string_view text) { add(std::hash<std::string_view>()(text)); }
  void add(const std::vector<std::byte>& data) {
    add(std::string_view(reinterpret_cast<const char*>(data.data()), data.size()));
  }

  uint64_t state_ = 0x243F6A8885A308D3u;
};

size_t hash(const std::monostate&) { return 0; }
size_t hash(const ir::CompareAttributes& a) { return Hash().of(a.direction); }
size_t hash(const ir::BroadcastAttributes& a) { return Hash().of(a.broadcast_dimensions); }
size_t hash(const ir::ConcatenateAttributes& a) { return Hash().of(a.dimension); }
size_t hash(const ir::ConstantAttributes& a) { return Hash().of(a.data); }
size_t hash(const ir::DynamicSliceAttributes& a) { return Hash().of(a.slice_sizes); }
size_t hash(const ir::GatherAttributes& a) { return Hash().of(a.offset_dims, a.start_index_map, a.slice_sizes); }
size_t hash(const ir::ScatterAttributes& a) { return Hash().of(a.update, a.update_window_dims, a.unique_indices); }
size_t hash(const ir::IotaAttributes& a) { return Hash().of(a.iota_dimension); }
size_t hash(const ir::PadAttributes& a) {
  return Hash().of(a.edge_padding_low, a.edge_padding_high, a.interior_padding);
}
size_t hash(const ir::ReverseAttributes& a) { return Hash().of(a.dimensions); }
size_t hash(const ir::SliceAttributes& a) { return Hash().of(a.start_indices, a.limit_indices, a.strides); }
size_t hash(const ir::TransposeAttributes& a) { return Hash().of(a.permutation); }
size_t hash(const ir::DotAttributes& a) {
  return Hash().of(a.lhs_contracting_dimensions, a.rhs_contracting_dimensions);
}
size_t hash(const ir::ReduceAttributes& a) { return Hash().of(a.reducer, a.dimensions); }
size_t hash(const ir::ReduceWindowAttributes& a) {
  return Hash().of(a.reducer, a.window_dimensions, a.window_strides, a.padding_low, a.padding_high);
}
size_t hash(const ir::SortAttributes& a) { return Hash().of(a.dimension, a.is_stable, a.descending); }
size_t hash(const ir::CustomCallAttributes& a) {
  return Hash().of(std::string_view(a.target), a.integers, std::string_view(a.text));
}
size_t hash(const ir::ReducePrecisionAttributes& a) { return Hash().of(a.exponent_bits, a.mantissa_bits); }
size_t hash(const ir::CholeskyAttributes& a) { return Hash().of(a.lower); }
size_t hash(const ir::TriangularSolveAttributes& a) { return Hash().of(a.left_side, a.lower, a.unit_diagonal); }
size_t hash(const ir::FftAttributes& a) { return Hash().of(static_cast<int64_t>(a.type), a.fft_length); }
size_t hash(const ir::ConvolutionAttributes& a) {
  return Hash().of(a.window_strides, a.padding_low, a.padding_high, a.lhs_dilation, a.rhs_dilation);
}
size_t hash(const ir::SelectAndScatterAttributes& a) { return Hash().of(a.window_dimensions, a.window_strides); }
// Regions are compared, not hashed: few nodes have any.
size_t hash(const ir::MapAttributes& a) { return Hash().of(a.dimensions); }
size_t hash(const ir::WhileAttributes&) { return 0; }
size_t hash(const ir::BranchAttributes& a) { return Hash().of(a.branches.size()); }

size_t hash(const ir::Graph& graph, const ir::Node& node) {
  uint64_t operands = 1;
  for (const ir::Value operand : node.operands) operands = operands * 1000003u + static_cast<uint64_t>(operand.id);
  const size_t attributes = std::visit([](const auto& one) { return hash(one); }, node.attributes);
  if (node.results.empty()) return Hash().of(node.op, operands, attributes);
  const ir::TensorType& type = graph.type(node.results.back());
  return Hash().of(node.op, operands, attributes, static_cast<uint64_t>(type.dtype), type.shape);
}

bool equal(const ir::Graph& graph, const ir::Node& left, const ir::Node& right) {
  if (left.op != right.op || left.operands != right.operands || left.results.size() != right.results.size())
    return false;
  for (size_t i = 0; i < left.results.size(); ++i) {
    if (!(graph.type(left.results[i]) == graph.type(right.results[i]))) return false;
  }
  return left.attributes == right.attributes;
}

}  // namespace

void eliminate_common_subexpressions(ir::Graph& graph) {
  Rewriter rewriter(graph);
  std::unordered_multimap<size_t, const ir::Node*> known;
  known.reserve(graph.nodes.size());
  // Removed here and not left to dead code elimination, which keeps custom calls.
  std::vector<bool> duplicate(graph.nodes.size(), false);
  size_t index = 0;
  rewriter.walk([&](ir::Node& node) {
    const size_t current = index++;
    const size_t key = hash(graph, node);
    const auto [first, last] = known.equal_range(key);
    for (auto candidate = first; candidate != last; ++candidate) {
      if (!equal(graph, *candidate->second, node)) continue;
      duplicate[current] = true;
      for (size_t i = 0; i < node.results.size(); ++i) rewriter.replace(node.results[i], candidate->second->results[i]);
      return;
    }
    known.emplace(key, &node);
  });
  index = 0;
  std::erase_if(graph.nodes, [&](const ir::Node&) { return duplicate[index++]; });
}

}  // namespace opentrn::passes
