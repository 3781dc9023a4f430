#include "tests/conformance/harness.h"

#include <cmath>
#include <limits>

#include "neuroncore/machine.h"

namespace opentrn::conformance {

namespace {

constexpr std::byte kGuard{0xA5};
constexpr int64_t kMargin = 5;  // guard elements before and after

Dims arranged_strides(const Dims& shape, Arrangement arrangement) {
  Dims strides = contiguous_strides(shape);
  if (arrangement == Arrangement::Expanded && !strides.empty()) strides[0] = 0;
  if (arrangement == Arrangement::Strided) {
    int64_t stride = 2;
    for (size_t i = shape.size(); i-- > 0; stride *= std::max<int64_t>(1, shape[i]) * 2) strides[i] = stride;
  }
  if (arrangement != Arrangement::ColumnMajor) return strides;
  int64_t stride = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    strides[i] = stride;
    stride *= std::max<int64_t>(1, shape[i]);
  }
  return strides;
}

int64_t arranged_offset(Arrangement arrangement) { return arrangement == Arrangement::Offset ? kMargin + 2 : kMargin; }

}  // namespace

std::string to_string(Arrangement arrangement) {
  switch (arrangement) {
    case Arrangement::RowMajor: return "row-major";
    case Arrangement::ColumnMajor: return "column-major";
    case Arrangement::Strided: return "strided";
    case Arrangement::Offset: return "offset";
    case Arrangement::Expanded: return "expanded";
  }
  return "";
}

Tensor::Tensor(DType dtype, const Dims& shape, Arrangement arrangement)
    : Tensor(dtype, shape, arranged_strides(shape, arrangement), arranged_offset(arrangement)) {}

Tensor::Tensor(DType dtype, const Dims& shape, const Dims& strides, int64_t offset)
    : type_{dtype, shape}, strides_(strides), offset_(offset) {
  const int64_t span = span_in_bytes(shape, strides, size_of(dtype));
  storage_.assign(static_cast<size_t>(span + (offset + kMargin) * size_of(dtype)), kGuard);
}

std::byte* Tensor::at(int64_t index) {
  int64_t elements = offset_;
  for (size_t i = strides_.size(); i-- > 0; index /= type_.shape[i]) elements += index % type_.shape[i] * strides_[i];
  return storage_.data() + elements * size_of(type_.dtype);
}

std::vector<std::byte> Tensor::bytes() const {
  std::vector<std::byte> result;
  for (int64_t i = 0; i < elements(); ++i) result.insert(result.end(), at(i), at(i) + size_of(dtype()));
  return result;
}

bool Tensor::guards_intact() const {
  std::vector<std::byte> rest = storage_;
  for (int64_t i = 0; i < elements(); ++i) {
    const auto start = static_cast<size_t>(at(i) - storage_.data());
    std::fill_n(rest.begin() + static_cast<std::ptrdiff_t>(start), size_of(dtype()), kGuard);
  }
  return std::all_of(rest.begin(), rest.end(), [](std::byte byte) { return byte == kGuard; });
}

ir::Graph Conformance::build(const std::vector<const Tensor*>& parameters, const Build& build) const {
  ir::Builder builder;
  std::vector<ir::Value> values;
  for (const Tensor* parameter : parameters) values.push_back(builder.parameter(parameter->type()));
  return builder.finish(build(builder, values));
}

void Conformance::run(const ir::Graph& graph, const Call& call) const {
  engines::Module module{graph, {}, {}, call.overlaps};
  std::vector<const void*> parameters;
  std::vector<void*> results;
  for (const Tensor* parameter : call.parameters) {
    module.parameters.push_back(parameter->layout());
    parameters.push_back(parameter->data());
  }
  for (Tensor* result : call.results) {
    module.results.push_back(result->layout());
    results.push_back(result->data());
  }
  const auto executable = engines::engine(GetParam()).compile(module, neuroncore::machines()[0]);
  executable->run(parameters, results);
  for (const Tensor* result : call.results) EXPECT_TRUE(result->guards_intact());
}

Tensor Conformance::evaluate(const std::vector<const Tensor*>& parameters, const Build& build) const {
  const ir::Graph graph = this->build(parameters, build);
  const ir::TensorType& type = graph.type(graph.results.at(0));
  Tensor result(type.dtype, type.shape);
  run(graph, {parameters, {&result}, {}});
  return result;
}

std::vector<double> ramp(int64_t count, double first, double step, int64_t period) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(first + step * static_cast<double>(i * 7 % period));
  return values;
}

Dims coordinates(int64_t linear, const Dims& shape) {
  Dims result(shape.size());
  for (size_t i = shape.size(); i-- > 0; linear /= shape[i]) result[i] = linear % shape[i];
  return result;
}

int64_t linear_index(const Dims& coordinates, const Dims& shape) {
  int64_t linear = 0;
  for (size_t i = 0; i < shape.size(); ++i) linear = linear * shape[i] + coordinates[i];
  return linear;
}

double epsilon(DType dtype) {
  switch (dtype) {
    case DType::F64:
    case DType::C128: return 0x1p-52;
    case DType::F32:
    case DType::C64: return 0x1p-23;
    case DType::F16:
    case DType::C32: return 0x1p-10;
    case DType::BF16: return 0x1p-7;
    case DType::F8E4M3FN:
    case DType::F8E4M3FNUZ: return 0x1p-3;
    case DType::F8E5M2:
    case DType::F8E5M2FNUZ: return 0x1p-2;
    default: return 0;
  }
}

void expect_near(const Tensor& result, const std::vector<double>& expected, double tolerance, const std::string& what) {
  const std::vector<double> values = result.values<double>();
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(values[i])) << what << " element " << i << " is " << values[i];
    } else if (std::isinf(expected[i]) || values[i] == expected[i]) {
      EXPECT_EQ(values[i], expected[i]) << what << " element " << i;
    } else {
      const double smallest = result.dtype() == DType::F16 ? 0x1p-14 : 0x1p-126;
      const double spacing = epsilon(result.dtype()) * std::max(std::abs(expected[i]), smallest);
      EXPECT_LE(std::abs(values[i] - expected[i]), tolerance * spacing)
          << what << " element " << i << " is " << values[i] << ", expected " << expected[i];
    }
  }
}

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const engines::Engine& engine : engines::engines()) names.emplace_back(engine.name);
  return names;
}

}  // namespace opentrn::conformance
