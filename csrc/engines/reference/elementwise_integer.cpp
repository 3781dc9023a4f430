// Element-wise primitives on integers and bools: exact, wrapping, and free of undefined behaviour.
#include <bit>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "engines/reference/loops.h"

namespace opentrn::engines::reference {

namespace {

using ir::Op;

// Wrapping arithmetic goes through the unsigned type; through 32 bits at least, because smaller ones promote to int.
template <typename T>
using Wide = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

[[noreturn]] void raise_zero_division() { throw Error(ErrorKind::Runtime, "ZeroDivisionError"); }

template <typename T>
bool is_minus_one(T value) {
  return std::is_signed_v<T> && value == static_cast<T>(-1);
}

struct Add {
  template <typename T>
  T operator()(T x, T y) const {
    return static_cast<T>(static_cast<Wide<T>>(x) + static_cast<Wide<T>>(y));
  }
};
struct Subtract {
  template <typename T>
  T operator()(T x, T y) const {
    return static_cast<T>(static_cast<Wide<T>>(x) - static_cast<Wide<T>>(y));
  }
};
struct Multiply {
  template <typename T>
  T operator()(T x, T y) const {
    return static_cast<T>(static_cast<Wide<T>>(x) * static_cast<Wide<T>>(y));
  }
};
struct Divide {
  template <typename T>
  T operator()(T x, T y) const {
    if (y == 0) raise_zero_division();
    return is_minus_one(y) ? Subtract{}(T{0}, x) : static_cast<T>(x / y);
  }
};
struct Remainder {
  template <typename T>
  T operator()(T x, T y) const {
    if (y == 0) raise_zero_division();
    return is_minus_one(y) ? T{0} : static_cast<T>(x % y);
  }
};
struct Maximum {
  template <typename T>
  T operator()(T x, T y) const {
    return x > y ? x : y;
  }
};
struct Minimum {
  template <typename T>
  T operator()(T x, T y) const {
    return x < y ? x : y;
  }
};
struct And {
  template <typename T>
  T operator()(T x, T y) const {
    return static_cast<T>(x & y);
  }
};
struct Or {
  template <typename T>
  T operator()(T x, T y) const {
    return static_cast<T>(x | y);
  }
};
struct Xor {
  template <typename T>
  T operator()(T x, T y) const {
    return static_cast<T>(x ^ y);
  }
};

template <typename T>
bool shifts_out(T count) {
  return count < 0 || static_cast<uint64_t>(count) >= sizeof(T) * 8;
}

struct ShiftLeft {
  template <typename T>
  T operator()(T x, T count) const {
    return shifts_out(count) ? T{0} : static_cast<T>(static_cast<Wide<T>>(x) << count);
  }
};
struct ShiftRightLogical {
  template <typename T>
  T operator()(T x, T count) const {
    return shifts_out(count) ? T{0} : static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) >> count);
  }
};
struct ShiftRightArithmetic {
  template <typename T>
  T operator()(T x, T count) const {
    const auto value = static_cast<std::make_signed_t<T>>(x);
    return static_cast<T>(value >> (shifts_out(count) ? static_cast<T>(sizeof(T) * 8 - 1) : count));
  }
};
struct Power {
  template <typename T>
  T operator()(T base, T exponent) const {
    if (exponent < 0) {
      if (base == 1) return T{1};
      if (is_minus_one(base)) return exponent % 2 == 0 ? T{1} : base;
      return T{0};
    }
    T result{1};
    for (auto rest = static_cast<std::make_unsigned_t<T>>(exponent); rest != 0;
         rest = static_cast<decltype(rest)>(rest >> 1)) {
      if (rest & 1) result = Multiply{}(result, base);
      base = Multiply{}(base, base);
    }
    return result;
  }
};

struct Abs {
  template <typename T>
  T operator()(T x) const {
    return x < 0 ? Subtract{}(T{0}, x) : x;
  }
};
struct Negate {
  template <typename T>
  T operator()(T x) const {
    return Subtract{}(T{0}, x);
  }
};
struct Not {
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};
struct PopulationCount {
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};
struct Sign {
  template <typename T>
  T operator()(T x) const {
    return static_cast<T>((x > 0) - (x < 0));
  }
};

// Bools are read as bytes, any byte but 0 being true, and written as 0 or 1.
struct BoolAnd {
  uint8_t operator()(uint8_t x, uint8_t y) const { return static_cast<uint8_t>((x != 0) & (y != 0)); }
};
struct BoolOr {
  uint8_t operator()(uint8_t x, uint8_t y) const { return static_cast<uint8_t>((x != 0) | (y != 0)); }
};
struct BoolXor {
  uint8_t operator()(uint8_t x, uint8_t y) const { return static_cast<uint8_t>((x != 0) != (y != 0)); }
};
struct BoolNot {
  uint8_t operator()(uint8_t x) const { return x == 0; }
};

template <typename T, typename Function>
constexpr Loop unary = unary_loop<T, T, Function>;
template <typename T, typename Function>
constexpr Loop binary = binary_loop<T, T, T, Function>;

Loop bool_binary(Op op) {
  switch (op) {
    case Op::And:
    case Op::Multiply:
    case Op::Minimum: return binary<uint8_t, BoolAnd>;
    case Op::Or:
    case Op::Add:
    case Op::Maximum: return binary<uint8_t, BoolOr>;
    case Op::Xor: return binary<uint8_t, BoolXor>;
    default: return nullptr;
  }
}

template <typename T>
Loop unary_of(Op op) {
  switch (op) {
    case Op::Abs: return unary<T, Abs>;
    case Op::Negate: return unary<T, Negate>;
    case Op::Not: return unary<T, Not>;
    case Op::PopulationCount: return unary<T, PopulationCount>;
    case Op::Sign: return unary<T, Sign>;
    default: return nullptr;
  }
}

template <typename T>
Loop binary_of(Op op) {
  using Unsigned = std::make_unsigned_t<T>;  // one instantiation where the sign does not matter
  switch (op) {
    case Op::Add: return binary<Unsigned, Add>;
    case Op::And: return binary<Unsigned, And>;
    case Op::Divide: return binary<T, Divide>;
    case Op::Maximum: return binary<T, Maximum>;
    case Op::Minimum: return binary<T, Minimum>;
    case Op::Multiply: return binary<Unsigned, Multiply>;
    case Op::Or: return binary<Unsigned, Or>;
    case Op::Power: return binary<T, Power>;
    case Op::Remainder: return binary<T, Remainder>;
    case Op::ShiftLeft: return binary<T, ShiftLeft>;
    case Op::ShiftRightArithmetic: return binary<T, ShiftRightArithmetic>;
    case Op::ShiftRightLogical: return binary<T, ShiftRightLogical>;
    case Op::Subtract: return binary<Unsigned, Subtract>;
    case Op::Xor: return binary<Unsigned, Xor>;
    default: return nullptr;
  }
}

template <typename Function>
Loop for_integer(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::U8: return function.template operator()<uint8_t>();
    case DType::I8: return function.template operator()<int8_t>();
    case DType::U16: return function.template operator()<uint16_t>();
    case DType::I16: return function.template operator()<int16_t>();
    case DType::U32: return function.template operator()<uint32_t>();
    case DType::I32: return function.template operator()<int32_t>();
    case DType::U64: return function.template operator()<uint64_t>();
    case DType::I64: return function.template operator()<int64_t>();
    default: return nullptr;
  }
}

}  // namespace

Loop integer_unary(Op op, DType dtype) {
  if (dtype == DType::Bool) return op == Op::Not ? unary<uint8_t, BoolNot> : nullptr;
  return for_integer(dtype, [&]<typename T>() { return unary_of<T>(op); });
}

Loop integer_binary(Op op, DType dtype) {
  if (dtype == DType::Bool) return bool_binary(op);
  return for_integer(dtype, [&]<typename T>() { return binary_of<T>(op); });
}

}  // namespace opentrn::engines::reference
