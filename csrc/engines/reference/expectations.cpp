// The checks of StableHLO's test modules: two tensors compared, element by element.
#include <cmath>
#include <cstring>
#include <limits>

#include "engines/reference/region_function.h"
#include "engines/reference/wide.h"
#include "ir/custom_calls.h"

namespace opentrn::engines::reference {

namespace {

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

std::string describe(const std::byte* element, DType dtype) {
  std::ostringstream text;
  if (is_complex(dtype)) {
    const int64_t part = size_of(real_dtype(dtype));
    return concat("(", describe(element, real_dtype(dtype)), ", ", describe(element + part, real_dtype(dtype)), ")");
  }
  visit_dtype(dtype, [&]<typename T>() {
    if constexpr (std::is_same_v<T, bool>) {
      text << (load<T>(element) ? "true" : "false");
    } else if constexpr (std::is_integral_v<T>) {
      text << +load<T>(element);
    } else {
      double value = 0;
      convert_row(dtype, DType::F64)(element, 1, &value, 1, 1);
      text.precision(dtype == DType::F64 ? 17 : 9);
      text << value;
    }
  });
  return text.str();
}

double to_double(const std::byte* element, DType dtype) {
  double value = 0;
  convert_row(dtype, DType::F64)(element, 1, &value, 1, 1);
  return value;
}

// Steps from one number to another over all that lie between; as many as there are for unlike numbers without a way.
uint64_t steps_between(const std::byte* left, const std::byte* right, DType dtype) {
  const auto size = static_cast<size_t>(size_of(dtype));
  if (std::memcmp(left, right, size) == 0) return 0;
  const double a = to_double(left, dtype);
  const double b = to_double(right, dtype);
  if (std::isnan(a) && std::isnan(b)) return 0;
  if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<uint64_t>::max();
  uint64_t bits[] = {0, 0};
  std::memcpy(&bits[0], left, size);
  std::memcpy(&bits[1], right, size);
  const uint64_t sign = uint64_t{1} << (8 * size - 1);
  const bool same_side = ((bits[0] ^ bits[1]) & sign) == 0;
  const uint64_t from_zero[] = {bits[0] & ~sign, bits[1] & ~sign};
  if (!same_side) return from_zero[0] + from_zero[1];
  return from_zero[0] > from_zero[1] ? from_zero[0] - from_zero[1] : from_zero[1] - from_zero[0];
}

bool almost_equal(double left, double right, double tolerance) {
  if (left == right) return true;
  if (std::isnan(left) || std::isnan(right)) return std::isnan(left) == std::isnan(right);
  return std::isfinite(left) && std::isfinite(right) && std::fabs(left - right) <= tolerance;
}

struct Expectation {
  ir::CustomCallAttributes call;
  DType dtype = DType::F32;
  double tolerance = 0;

  bool holds(const std::byte* actual, const std::byte* expected) const {
    if (call.target == ir::kExpectEqual) {
      return visit_dtype(dtype, [&]<typename T>() { return equal<T>(actual, expected); });
    }
    const DType part = real_dtype(dtype);
    const int64_t parts = is_complex(dtype) ? 2 : 1;
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t offset = i * size_of(part);
      if (!part_holds(actual + offset, expected + offset, part)) return false;
    }
    return true;
  }

  std::string name() const {
    if (call.target == ir::kExpectAlmostEqual) return concat(call.target, " within ", call.text);
    if (call.target != ir::kExpectClose) return call.target;
    return concat(call.target, " within ", call.integers[0], " to ", call.integers[1], " steps");
  }

 private:
  template <typename T>
  static bool equal(const std::byte* actual, const std::byte* expected) {
    const T left = load<T>(actual);
    const T right = load<T>(expected);
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>) {
      return left == right;
    } else if constexpr (std::is_same_v<T, ComplexHalf>) {
      return std::memcmp(actual, expected, sizeof(T)) == 0;
    } else {
      return static_cast<float>(left) == static_cast<float>(right);
    }
  }

  bool part_holds(const std::byte* actual, const std::byte* expected, DType part) const {
    if (call.target == ir::kExpectAlmostEqual) {
      return almost_equal(to_double(actual, part), to_double(expected, part), tolerance);
    }
    const uint64_t steps = steps_between(actual, expected, part);
    return steps >= static_cast<uint64_t>(call.integers[0]) && steps <= static_cast<uint64_t>(call.integers[1]);
  }
};

}  // namespace

Kernel expectation_kernel(const Problem& problem) {
  const View& actual = problem.operands[0];
  const View& expected = problem.operands[1];
  Expectation expectation{problem.node.as<ir::CustomCallAttributes>(), actual.dtype};
  if (expectation.call.target == ir::kExpectAlmostEqual) expectation.tolerance = std::stod(expectation.call.text);
  return [=](std::byte* const* operands, std::byte* const*) {
    int64_t differing = 0;
    Complaint complaint;
    for_each_index(actual.shape, [&](const Dims& index) {
      const std::byte* left = operands[0] + byte_offset(actual, index);
      const std::byte* right = operands[1] + byte_offset(expected, index);
      if (expectation.holds(left, right)) return;
      if (differing++ > 0) return;
      complaint = {.where = expectation.name(),
                   .what = concat("element ", to_string(index), " of ",
                                  ir::to_string(ir::TensorType{actual.dtype, actual.shape}), " differs"),
                   .got = describe(left, actual.dtype),
                   .expected = describe(right, actual.dtype)};
    });
    if (differing == 0) return;
    complaint.what += concat(" (and ", differing - 1, " more)");
    raise(ErrorKind::Runtime, complaint);
  };
}

}  // namespace opentrn::engines::reference
