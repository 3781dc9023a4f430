// Comparing, choosing and copying elements.
#include <complex>
#include <cstring>

#include "engines/reference/loops.h"

namespace opentrn::engines::reference {

namespace {

using ir::ComparisonDirection;

struct Equal {
  template <typename T>
  uint8_t operator()(const T& x, const T& y) const {
    return x == y;
  }
};
struct NotEqual {
  template <typename T>
  uint8_t operator()(const T& x, const T& y) const {
    return x != y;
  }
};
struct Less {
  template <typename T>
  uint8_t operator()(const T& x, const T& y) const {
    return x < y;
  }
};
struct LessEqual {
  template <typename T>
  uint8_t operator()(const T& x, const T& y) const {
    return x <= y;
  }
};

// A byte that stands for a bool: any value but 0 is true.
struct BoolByte {
  uint8_t byte;
  operator int() const { return byte != 0; }  // NOLINT
};

template <typename T, typename Function>
constexpr Loop compare = binary_loop<uint8_t, T, T, Function>;

template <typename T>
Loop equality(ComparisonDirection direction) {
  switch (direction) {
    case ComparisonDirection::EQ: return compare<T, Equal>;
    case ComparisonDirection::NE: return compare<T, NotEqual>;
    default: return nullptr;
  }
}

template <typename T>
Loop comparison(ComparisonDirection direction) {
  switch (direction) {
    case ComparisonDirection::LT:
    case ComparisonDirection::GT: return compare<T, Less>;
    case ComparisonDirection::LE:
    case ComparisonDirection::GE: return compare<T, LessEqual>;
    default: return equality<T>(direction);
  }
}

// A NaN in the operand or a bound is the result, as min(max(low, x), high) gives.
template <typename T>
T clamped(T low, T x, T high) {
  T result = x < low ? low : x;
  result = result > high ? high : result;
  if (low != low) return low;
  return high != high ? high : result;
}

template <typename T>
void clamp_elements(int64_t n, std::byte* const* pointers, const int64_t* steps) {
  constexpr int64_t kDense = sizeof(T);
  if (steps[0] == kDense && steps[1] == 0 && steps[2] == kDense && steps[3] == 0) {
    T* out = as<T>(pointers[0]);
    const T low = *as<T>(pointers[1]);
    const T* in = as<T>(pointers[2]);
    const T high = *as<T>(pointers[3]);
    OPENTRN_INDEPENDENT_LOOP
    for (int64_t i = 0; i < n; ++i) out[i] = clamped(low, in[i], high);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    *as<T>(pointers[0] + i * steps[0]) = clamped(*as<T>(pointers[1] + i * steps[1]), *as<T>(pointers[2] + i * steps[2]),
                                                 *as<T>(pointers[3] + i * steps[3]));
  }
}

void clamp_bools(int64_t n, std::byte* const* pointers, const int64_t* steps) {
  for (int64_t i = 0; i < n; ++i) {
    const auto read = [&](size_t operand) { return *as<uint8_t>(pointers[operand] + i * steps[operand]) != 0; };
    *as<uint8_t>(pointers[0] + i * steps[0]) = (read(1) || read(2)) && read(3);
  }
}

struct SixteenBytes {
  uint64_t low, high;
};

template <typename T, int64_t true_step, int64_t false_step>
void select_dense(int64_t n, std::byte* const* pointers) {
  T* out = as<T>(pointers[0]);
  const uint8_t* predicate = as<uint8_t>(pointers[1]);
  const T* on_true = as<T>(pointers[2]);
  const T* on_false = as<T>(pointers[3]);
  OPENTRN_INDEPENDENT_LOOP
  for (int64_t i = 0; i < n; ++i) {
    const T yes = on_true[i * true_step];
    const T no = on_false[i * false_step];
    out[i] = predicate[i] != 0 ? yes : no;
  }
}

template <typename T>
void copy_elements(int64_t n, std::byte* const* pointers, const int64_t* steps) {
  constexpr int64_t kDense = sizeof(T);
  if (steps[0] == kDense && steps[1] == kDense) {
    if (n > 0 && pointers[0] != pointers[1]) std::memcpy(pointers[0], pointers[1], static_cast<size_t>(n) * sizeof(T));
    return;
  }
  if (steps[0] == kDense && steps[1] == 0) {
    const T value = *as<T>(pointers[1]);
    for (int64_t i = 0; i < n; ++i) as<T>(pointers[0])[i] = value;
    return;
  }
  for (int64_t i = 0; i < n; ++i) *as<T>(pointers[0] + i * steps[0]) = *as<T>(pointers[1] + i * steps[1]);
}

template <typename T>
void select_elements(int64_t n, std::byte* const* pointers, const int64_t* steps) {
  constexpr int64_t kDense = sizeof(T);
  if (steps[1] == 0) {  // one predicate for the whole row
    const bool chosen = n > 0 && *as<uint8_t>(pointers[1]) != 0;
    std::byte* const copied[] = {pointers[0], pointers[chosen ? 2 : 3]};
    const int64_t copied_steps[] = {steps[0], steps[chosen ? 2 : 3]};
    return copy_elements<T>(n, copied, copied_steps);
  }
  if (steps[0] == kDense && steps[1] == 1) {
    if (steps[2] == kDense && steps[3] == kDense) return select_dense<T, 1, 1>(n, pointers);
    if (steps[2] == kDense && steps[3] == 0) return select_dense<T, 1, 0>(n, pointers);
    if (steps[2] == 0 && steps[3] == kDense) return select_dense<T, 0, 1>(n, pointers);
    if (steps[2] == 0 && steps[3] == 0) return select_dense<T, 0, 0>(n, pointers);
  }
  for (int64_t i = 0; i < n; ++i) {
    const T yes = *as<T>(pointers[2] + i * steps[2]);
    const T no = *as<T>(pointers[3] + i * steps[3]);
    *as<T>(pointers[0] + i * steps[0]) = *as<uint8_t>(pointers[1] + i * steps[1]) != 0 ? yes : no;
  }
}

}  // namespace

Loop compare_loop(ComparisonDirection direction, DType dtype) {
  switch (dtype) {
    case DType::Bool: return comparison<BoolByte>(direction);
    case DType::U8: return comparison<uint8_t>(direction);
    case DType::I8: return comparison<int8_t>(direction);
    case DType::U16: return comparison<uint16_t>(direction);
    case DType::I16: return comparison<int16_t>(direction);
    case DType::U32: return comparison<uint32_t>(direction);
    case DType::I32: return comparison<int32_t>(direction);
    case DType::U64: return comparison<uint64_t>(direction);
    case DType::I64: return comparison<int64_t>(direction);
    case DType::F32: return comparison<float>(direction);
    case DType::F64: return comparison<double>(direction);
    case DType::C64: return equality<std::complex<float>>(direction);
    case DType::C128: return equality<std::complex<double>>(direction);
    default: return nullptr;
  }
}

Loop clamp_loop(DType dtype) {
  switch (dtype) {
    case DType::Bool: return clamp_bools;
    case DType::U8: return clamp_elements<uint8_t>;
    case DType::I8: return clamp_elements<int8_t>;
    case DType::U16: return clamp_elements<uint16_t>;
    case DType::I16: return clamp_elements<int16_t>;
    case DType::U32: return clamp_elements<uint32_t>;
    case DType::I32: return clamp_elements<int32_t>;
    case DType::U64: return clamp_elements<uint64_t>;
    case DType::I64: return clamp_elements<int64_t>;
    case DType::F32: return clamp_elements<float>;
    case DType::F64: return clamp_elements<double>;
    default: return nullptr;
  }
}

Loop select_loop(int64_t item_size) {
  switch (item_size) {
    case 1: return select_elements<uint8_t>;
    case 2: return select_elements<uint16_t>;
    case 4: return select_elements<uint32_t>;
    case 8: return select_elements<uint64_t>;
    default: return select_elements<SixteenBytes>;
  }
}

Loop copy_loop(int64_t item_size) {
  switch (item_size) {
    case 1: return copy_elements<uint8_t>;
    case 2: return copy_elements<uint16_t>;
    case 4: return copy_elements<uint32_t>;
    case 8: return copy_elements<uint64_t>;
    default: return copy_elements<SixteenBytes>;
  }
}

}  // namespace opentrn::engines::reference
