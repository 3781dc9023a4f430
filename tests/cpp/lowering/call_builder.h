// Builds calls by hand, lowers them and runs the graphs on the reference engine, without PyTorch.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/convert.h"
#include "engines/engine.h"
#include "ir/verifier.h"
#include "lowering/lower.h"

namespace opentrn::lowering::testing {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The text of the Error that `function` throws, whose kind is checked.
template <typename Function>
std::string error_of(Function&& function, ErrorKind kind = ErrorKind::Runtime) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "no error";
}

/// A tensor in memory. `bytes` starts at its first element.
struct TestTensor {
  ir::TensorType type;
  Dims strides;
  std::vector<std::byte> bytes;
};

inline TestTensor empty_tensor(DType dtype, const Dims& shape, std::optional<Dims> strides = std::nullopt) {
  TestTensor tensor{{dtype, shape}, strides.value_or(contiguous_strides(shape)), {}};
  tensor.bytes.resize(static_cast<size_t>(span_in_bytes(shape, tensor.strides, size_of(dtype))));
  return tensor;
}

/// A tensor whose elements, in row-major order, are `values` converted to `dtype`.
template <typename T>
TestTensor tensor_of(DType dtype, const Dims& shape, const std::vector<T>& values,
                     std::optional<Dims> strides = std::nullopt) {
  TestTensor tensor = empty_tensor(dtype, shape, std::move(strides));
  constexpr DType source = std::is_same_v<T, int64_t>                ? DType::I64
                           : std::is_same_v<T, std::complex<double>> ? DType::C128
                                                                     : DType::F64;
  convert_strided(values.data(), source, contiguous_strides(shape), tensor.bytes.data(), dtype, tensor.strides, shape);
  return tensor;
}
inline TestTensor floats(const Dims& shape, const std::vector<double>& values) {
  return tensor_of(DType::F32, shape, values);
}
inline TestTensor integers(const Dims& shape, const std::vector<int64_t>& values) {
  return tensor_of(DType::I64, shape, values);
}

/// The elements in row-major order.
template <typename T>
std::vector<T> values_of(const TestTensor& tensor) {
  constexpr DType target = std::is_same_v<T, int64_t>                ? DType::I64
                           : std::is_same_v<T, std::complex<double>> ? DType::C128
                                                                     : DType::F64;
  std::vector<T> values(static_cast<size_t>(tensor.type.elements()));
  convert_strided(tensor.bytes.data(), tensor.type.dtype, tensor.strides, values.data(), target,
                  contiguous_strides(tensor.type.shape), tensor.type.shape);
  return values;
}

class CallBuilder {
 public:
  explicit CallBuilder(std::string name) { call_.operator_name = std::move(name); }

  CallBuilder& tensor(std::string name, const TestTensor& tensor) {
    call_.arguments.push_back({std::move(name), operand(tensor)});
    return *this;
  }
  /// A Python number where the schema has a tensor.
  CallBuilder& wrapped(std::string name, double number) {
    TensorArgument argument = operand(tensor_of<double>(DType::F64, {}, {number}));
    argument.wrapped_number = true;
    call_.arguments.push_back({std::move(name), argument});
    return *this;
  }
  CallBuilder& tensors(std::string name, const std::vector<TestTensor>& list) {
    TensorList arguments;
    for (const TestTensor& tensor : list) arguments.emplace_back(operand(tensor));
    call_.arguments.push_back({std::move(name), std::move(arguments)});
    return *this;
  }
  CallBuilder& scalar(std::string name, double number) { return runtime_scalar(std::move(name), DType::F64, number); }
  CallBuilder& scalar(std::string name, int64_t number) {
    return runtime_scalar(std::move(name), DType::I64, static_cast<double>(number), number);
  }
  CallBuilder& scalar(std::string name, int number) { return scalar(std::move(name), int64_t{number}); }
  CallBuilder& scalar(std::string name, bool value) {
    return runtime_scalar(std::move(name), DType::Bool, value ? 1.0 : 0.0, value ? 1 : 0);
  }
  CallBuilder& set(std::string name, Argument argument) {
    call_.arguments.push_back({std::move(name), std::move(argument)});
    return *this;
  }
  CallBuilder& none(std::string name) { return set(std::move(name), std::monostate{}); }
  CallBuilder& text(std::string name, std::string value) { return set(std::move(name), std::move(value)); }
  /// An `out=` tensor.
  CallBuilder& out(const TestTensor& tensor) {
    call_.destinations.push_back(operand(tensor));
    return *this;
  }
  /// The in-place variant: the first tensor argument is the destination.
  CallBuilder& in_place() {
    call_.in_place = true;
    call_.destinations.push_back(std::get<TensorArgument>(call_.arguments.front().value));
    return *this;
  }

  Lowered lower() {
    const Rule* rule = find_rule(call_.operator_name);
    if (rule == nullptr) raise(ErrorKind::Internal, {.where = call_.operator_name, .what = "no rule"});
    if (rule->derive != nullptr) call_.derived = rule->derive(scalars_);
    Lowered lowered = opentrn::lowering::lower(*rule, call_, builder_);
    if (lowered.resize_destinations.empty()) ir::verify(lowered.graph);
    return lowered;
  }

  /// Runs the graph. Results in graph order; those that go to an operand's memory are returned like fresh ones.
  std::vector<TestTensor> run() {
    const Lowered lowered = lower();
    std::vector<engines::Layout> parameters;
    std::vector<const void*> inputs;
    std::vector<TestTensor> state;
    if (lowered.random_blocks > 0) operands_.push_back(tensor_of<int64_t>(DType::U64, {2}, {42, 0}));
    for (const TestTensor& operand : operands_) {
      parameters.push_back({operand.type, operand.strides});
      inputs.push_back(operand.bytes.data());
    }
    std::vector<engines::Layout> results;
    std::vector<TestTensor> tensors;
    for (const Output& output : lowered.outputs) {
      if (!output.defined) continue;
      results.push_back({output.type, output.strides});
      tensors.push_back(empty_tensor(output.type.dtype, output.type.shape, output.strides));
    }
    std::vector<void*> outputs;
    for (TestTensor& tensor : tensors) outputs.push_back(tensor.bytes.data());
    const engines::Module module{lowered.graph, std::move(parameters), std::move(results), {}};
    engines::engine("reference").compile(module, neuroncore::machines().front())->run(inputs, outputs);
    return tensors;
  }

  template <typename T>
  std::vector<T> run_for() {
    return values_of<T>(run().at(0));
  }

 private:
  TensorArgument operand(const TestTensor& tensor) {
    TensorArgument argument;
    argument.operand = static_cast<int>(operands_.size());
    argument.type = tensor.type;
    argument.strides = tensor.strides;
    argument.value = builder_.parameter(tensor.type);
    operands_.push_back(tensor);
    return argument;
  }

  CallBuilder& runtime_scalar(std::string name, DType dtype, double number, int64_t integer = 0) {
    const TensorArgument argument = operand(dtype == DType::I64 ? tensor_of<int64_t>(dtype, {}, {integer})
                                                                : tensor_of<double>(dtype, {}, {number}));
    call_.arguments.push_back({name, ScalarArgument{argument.operand, argument.value, dtype}});
    names_.push_back(std::make_shared<const std::string>(std::move(name)));
    scalars_.push_back({*names_.back(), dtype, integer, number});
    return *this;
  }

  Call call_;
  ir::Builder builder_;
  std::vector<TestTensor> operands_;
  std::vector<std::shared_ptr<const std::string>> names_;
  std::vector<ScalarValue> scalars_;
};

}  // namespace opentrn::lowering::testing
