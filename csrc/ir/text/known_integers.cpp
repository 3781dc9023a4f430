// Arithmetic on shapes: integers that follow from constants alone, found where they decide about a shape.
#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <unordered_map>

#include "ir/text/parser.h"
#include "ir/view.h"

namespace opentrn::ir::text {

namespace {

constexpr int64_t kMostElements = 4096;  // more than that are no sizes

int64_t read_element(const std::byte* from, DType dtype) {
  return visit_dtype(dtype, [from]<typename T>() -> int64_t {
    if constexpr (std::is_integral_v<T>) {
      T value;
      std::memcpy(&value, from, sizeof(T));
      return static_cast<int64_t>(value);
    } else {
      return 0;
    }
  });
}

// As the type would hold it.
int64_t wrap(int64_t value, DType dtype) {
  return visit_dtype(dtype, [value]<typename T>() -> int64_t {
    if constexpr (std::is_same_v<T, bool>) {
      return value != 0 ? 1 : 0;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(static_cast<T>(value));
    } else {
      return value;
    }
  });
}

std::optional<int64_t> combine(Op op, int64_t left, int64_t right) {
  const auto a = static_cast<uint64_t>(left);
  const auto b = static_cast<uint64_t>(right);
  switch (op) {
    case Op::Add: return static_cast<int64_t>(a + b);
    case Op::Subtract: return static_cast<int64_t>(a - b);
    case Op::Multiply: return static_cast<int64_t>(a * b);
    case Op::Maximum: return std::max(left, right);
    case Op::Minimum: return std::min(left, right);
    case Op::And: return left & right;
    case Op::Or: return left | right;
    case Op::Xor: return left ^ right;
    case Op::Divide:
      if (right == 0) return std::nullopt;
      return right == -1 ? static_cast<int64_t>(-a) : left / right;
    case Op::Remainder:
      if (right == 0) return std::nullopt;
      return right == -1 ? 0 : left % right;
    default: return std::nullopt;
  }
}

bool holds(ComparisonDirection direction, int64_t left, int64_t right) {
  switch (direction) {
    case ComparisonDirection::EQ: return left == right;
    case ComparisonDirection::NE: return left != right;
    case ComparisonDirection::GE: return left >= right;
    case ComparisonDirection::GT: return left > right;
    case ComparisonDirection::LE: return left <= right;
    case ComparisonDirection::LT: return left < right;
  }
  __builtin_unreachable();
}

std::optional<int64_t> single(Op op, int64_t value, DType dtype) {
  switch (op) {
    case Op::Convert: return value;
    case Op::Negate: return static_cast<int64_t>(-static_cast<uint64_t>(value));
    case Op::Abs: return value < 0 ? -value : value;
    case Op::Sign: return value > 0 ? 1 : value < 0 ? -1 : 0;
    case Op::Not: return is_bool(dtype) ? 1 - value : ~value;
    default: return std::nullopt;
  }
}

class Evaluator {
 public:
  explicit Evaluator(const Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes) {
      for (const Value result : node.results) producers_[result.id] = &node;
    }
  }

  std::optional<Dims> value(Value value) {
    if (const auto found = known_.find(value.id); found != known_.end()) return found->second;
    const TensorType& type = graph_.type(value);
    const auto producer = producers_.find(value.id);
    std::optional<Dims> result;
    const bool small = is_integral(type.dtype) && type.elements() <= kMostElements;
    if (small && producer != producers_.end()) result = evaluate(*producer->second, type);
    if (result) {
      for (int64_t& element : *result) element = wrap(element, type.dtype);
    }
    known_[value.id] = result;
    return result;
  }

 private:
  std::optional<Dims> evaluate(const Node& node, const TensorType& type) {
    if (node.op == Op::Constant) return constant(node, type);
    if (node.op == Op::Iota) return iota(node, type);
    std::vector<Dims> operands;
    for (const Value operand : node.operands) {
      if (!is_integral(graph_.type(operand).dtype)) return std::nullopt;
      std::optional<Dims> known = value(operand);
      if (!known) return std::nullopt;
      operands.push_back(std::move(*known));
    }
    if (is_elementwise(node.op)) return elementwise(node, operands, static_cast<size_t>(type.elements()));
    return moved(node, operands, type);
  }

  static Dims constant(const Node& node, const TensorType& type) {
    const auto& data = node.as<ConstantAttributes>().data;
    const int64_t size = size_of(type.dtype);
    const bool splat = static_cast<int64_t>(data.size()) == size;
    Dims result;
    for (int64_t i = 0; i < type.elements(); ++i) {
      result.push_back(read_element(data.data() + (splat ? 0 : i * size), type.dtype));
    }
    return result;
  }

  // The elements of `view` in row-major order.
  static Dims elements(const Dims& storage, const View& view) {
    Dims result;
    Dims index(view.shape.size(), 0);
    for (int64_t count = 0; count < view.elements(); ++count) {
      int64_t place = view.offset / view.item_size();
      for (size_t i = 0; i < index.size(); ++i) place += index[i] * view.strides[i];
      result.push_back(storage[static_cast<size_t>(place)]);
      for (size_t i = index.size(); i-- > 0;) {
        if (++index[i] < view.shape[i]) break;
        index[i] = 0;
      }
    }
    return result;
  }

  static Dims iota(const Node& node, const TensorType& type) {
    const auto dimension = static_cast<size_t>(node.as<IotaAttributes>().iota_dimension);
    Dims line(static_cast<size_t>(type.shape[dimension]));
    std::iota(line.begin(), line.end(), 0);
    View view{type.dtype, type.shape, Dims(type.shape.size(), 0), 0};
    view.strides[dimension] = 1;
    return elements(line, view);
  }

  std::optional<Dims> elementwise(const Node& node, const std::vector<Dims>& operands, size_t count) const {
    const DType dtype = graph_.type(node.operands[0]).dtype;
    Dims result;
    for (size_t i = 0; i < count; ++i) {
      const auto element = [&](size_t operand) {
        return operands[operand].size() == 1 ? operands[operand][0] : operands[operand][i];
      };
      std::optional<int64_t> one;
      if (node.op == Op::Select) {
        one = element(0) != 0 ? element(1) : element(2);
      } else if (node.op == Op::Clamp) {
        one = std::min(std::max(element(1), element(0)), element(2));
      } else if (node.op == Op::Compare) {
        if (dtype == DType::U64) return std::nullopt;
        one = holds(node.as<CompareAttributes>().direction, element(0), element(1)) ? 1 : 0;
      } else if (operands.size() == 1) {
        one = single(node.op, element(0), dtype);
      } else {
        one = dtype == DType::U64 ? std::nullopt : combine(node.op, element(0), element(1));
      }
      if (!one) return std::nullopt;
      result.push_back(*one);
    }
    return result;
  }

  std::optional<Dims> moved(const Node& node, const std::vector<Dims>& operands, const TensorType& type) const {
    const auto view = [&](size_t operand) { return contiguous_view(graph_.type(node.operands[operand])); };
    switch (node.op) {
      case Op::Reshape: return operands[0];
      case Op::BroadcastInDim:
        return elements(operands[0],
                        broadcast_view(view(0), type.shape, node.as<BroadcastAttributes>().broadcast_dimensions));
      case Op::Slice: return elements(operands[0], slice_view(view(0), node.as<SliceAttributes>()));
      case Op::Reverse: return elements(operands[0], reverse_view(view(0), node.as<ReverseAttributes>().dimensions));
      case Op::Concatenate:
        if (node.as<ConcatenateAttributes>().dimension != 0) return std::nullopt;
        return joined(operands);
      case Op::Reduce: return reduced(node, operands);
      default: return std::nullopt;
    }
  }

  static Dims joined(const std::vector<Dims>& parts) {
    Dims result;
    for (const Dims& part : parts) result.insert(result.end(), part.begin(), part.end());
    return result;
  }

  // To a single element.
  std::optional<Dims> reduced(const Node& node, const std::vector<Dims>& operands) const {
    const auto& attributes = node.as<ReduceAttributes>();
    if (attributes.dimensions.size() != graph_.type(node.operands[0]).shape.size()) return std::nullopt;
    std::optional<int64_t> result = operands[1][0];
    for (const int64_t element : operands[0]) {
      if (result) result = combine(attributes.reducer, *result, element);
    }
    return result ? std::optional(Dims{*result}) : std::nullopt;
  }

  const Graph& graph_;
  std::unordered_map<int32_t, const Node*> producers_;
  std::unordered_map<int32_t, std::optional<Dims>> known_;
};

}  // namespace

std::optional<Dims> known_integers(const Graph& graph, Value value) { return Evaluator(graph).value(value); }

}  // namespace opentrn::ir::text
