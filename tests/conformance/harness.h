// What the conformance tests share: tensors in any memory layout, and a run of a graph on one engine.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/convert.h"
#include "base/error.h"
#include "engines/engine.h"
#include "ir/builder.h"

namespace opentrn::conformance {

/// How the elements of a tensor lie in memory.
enum class Arrangement {
  RowMajor,
  ColumnMajor,
  Strided,   // every second element, in every dimension
  Offset,    // row-major, some elements into the storage
  Expanded,  // the outermost dimension has stride 0: for operands only, and only where its elements are equal
};

std::string to_string(Arrangement arrangement);

/// A tensor in memory of its own, with guard bytes around and between its elements.
class Tensor {
 public:
  Tensor(DType dtype, const Dims& shape, Arrangement arrangement = Arrangement::RowMajor);
  Tensor(DType dtype, const Dims& shape, const Dims& strides, int64_t offset);

  DType dtype() const { return type_.dtype; }
  const Dims& shape() const { return type_.shape; }
  const Dims& strides() const { return strides_; }
  const ir::TensorType& type() const { return type_; }
  int64_t elements() const { return type_.elements(); }
  engines::Layout layout() const { return {type_, strides_}; }
  std::byte* data() { return storage_.data() + offset_ * size_of(type_.dtype); }
  const std::byte* data() const { return storage_.data() + offset_ * size_of(type_.dtype); }

  /// Element `index` in row-major order, whatever the layout.
  std::byte* at(int64_t index);
  const std::byte* at(int64_t index) const { return const_cast<Tensor*>(this)->at(index); }

  /// Rounds each number to the element type.
  template <typename T>
  Tensor& fill(const std::vector<T>& values);
  /// All elements, converted.
  template <typename T>
  std::vector<T> values() const;
  /// The elements as they are, packed.
  std::vector<std::byte> bytes() const;
  /// True when nothing but the elements differs from what the memory held at first.
  bool guards_intact() const;

 private:
  ir::TensorType type_;
  Dims strides_;
  int64_t offset_ = 0;
  std::vector<std::byte> storage_;
};

/// Memory that several parameters and results of a run share is named by giving the same tensor.
struct Call {
  std::vector<const Tensor*> parameters;
  std::vector<Tensor*> results;
  std::vector<engines::Overlap> overlaps;
};

/// Builds, compiles and runs on the engine of the test's parameter.
class Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  using Build = std::function<std::vector<ir::Value>(ir::Builder&, const std::vector<ir::Value>&)>;

  ir::Graph build(const std::vector<const Tensor*>& parameters, const Build& build) const;
  void run(const ir::Graph& graph, const Call& call) const;
  void run(const Call& call, const Build& build) const { run(this->build(call.parameters, build), call); }

  /// A result in row-major order.
  Tensor evaluate(const std::vector<const Tensor*>& parameters, const Build& build) const;
};

/// All arrangements a result may have.
inline const std::vector<Arrangement> kResultArrangements = {Arrangement::RowMajor, Arrangement::ColumnMajor,
                                                             Arrangement::Strided, Arrangement::Offset};

inline const std::vector<DType> kFloats = {DType::F32, DType::F64, DType::BF16, DType::F16};
inline const std::vector<DType> kIntegers = {DType::U8,  DType::I8,  DType::U16, DType::I16,
                                             DType::U32, DType::I32, DType::U64, DType::I64};

/// Numbers that do not repeat soon, small enough to be exact in every type wider than eight bits.
std::vector<double> ramp(int64_t count, double first = -3.5, double step = 0.75, int64_t period = 17);

/// Coordinates of element `linear` of `shape` in row-major order, and back.
Dims coordinates(int64_t linear, const Dims& shape);
int64_t linear_index(const Dims& coordinates, const Dims& shape);

/// Relative spacing of the type's numbers near 1; 0 for exact types.
double epsilon(DType dtype);

template <typename T>
Tensor& Tensor::fill(const std::vector<T>& values) {
  EXPECT_EQ(static_cast<int64_t>(values.size()), elements());
  for (int64_t i = 0; i < elements(); ++i) {
    const T value = values[static_cast<size_t>(i)];
    visit_dtype(dtype(), [&]<typename Element>() {
      const Element element = convert_element<Element>(value);
      std::memcpy(at(i), &element, sizeof(element));
    });
  }
  return *this;
}

template <typename T>
std::vector<T> Tensor::values() const {
  std::vector<T> result;
  for (int64_t i = 0; i < elements(); ++i) {
    visit_dtype(dtype(), [&]<typename Element>() {
      Element element;
      std::memcpy(&element, at(i), sizeof(element));
      result.push_back(convert_element<T>(element));
    });
  }
  return result;
}

/// Every number within `tolerance` spacings of the result's type of what is expected (NaN equals NaN, infinities
/// exact).
void expect_near(const Tensor& result, const std::vector<double>& expected, double tolerance, const std::string& what);

/// A suite in which every test runs once for each engine of the build.
#define OPENTRN_FOR_EACH_ENGINE(suite)                                                                  \
  INSTANTIATE_TEST_SUITE_P(Engines, suite, ::testing::ValuesIn(::opentrn::conformance::engine_names()), \
                           [](const auto& info) { return info.param; })
std::vector<std::string> engine_names();

}  // namespace opentrn::conformance
