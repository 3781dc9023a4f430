// Reductions of a dense row into one element. Products of floats are carried in double, sums of floats in double after
// groups of a few, sums of doubles with the digits lost so far, so that the order of the additions hardly shows.

inline constexpr int64_t kReduceLanes = 32;

/// A sum that carries the digits lost so far (Neumaier).
struct CompensatedSum {
  double sum = 0, lost = 0;
};

template <typename T>
struct SumOf {
  using Wide = std::conditional_t<Real<T>, double, std::conditional_t<Complex<T>, std::complex<double>, T>>;
  static Wide neutral() { return Wide(0); }
  OPENTRN_INLINE static Wide widen(T x) { return static_cast<Wide>(x); }
  OPENTRN_INLINE static Wide combine(Wide x, Wide y) { return Add{}(x, y); }
  OPENTRN_INLINE static T narrow(Wide x) { return static_cast<T>(x); }
};
template <>
struct SumOf<double> {
  using Wide = CompensatedSum;
  static Wide neutral() { return {}; }
  OPENTRN_INLINE static Wide widen(double x) { return {x, 0}; }
  OPENTRN_INLINE static Wide combine(Wide x, Wide y) {
    const double sum = x.sum + y.sum;
    const double lost = std::abs(x.sum) >= std::abs(y.sum) ? (x.sum - sum) + y.sum : (y.sum - sum) + x.sum;
    return {sum, x.lost + y.lost + lost};
  }
  // Infinities and NaN leave NaN behind as the lost digits.
  static double narrow(Wide x) {
    return std::abs(x.sum) <= std::numeric_limits<double>::max() ? x.sum + x.lost : x.sum;
  }
};
template <typename T>
struct ProductOf {
  using Wide = typename std::conditional_t<std::is_same_v<T, double>, ProductOf<float>, SumOf<T>>::Wide;
  static Wide neutral() { return Wide(1); }
  OPENTRN_INLINE static Wide widen(T x) { return static_cast<Wide>(x); }
  OPENTRN_INLINE static Wide combine(Wide x, Wide y) { return Multiply{}(x, y); }
  OPENTRN_INLINE static T narrow(Wide x) { return static_cast<T>(x); }
};

/// Reductions by an operation that neither widens nor rounds.
template <typename T, typename Function>
struct Plain {
  using Wide = T;
  OPENTRN_INLINE static T widen(T x) { return x; }
  OPENTRN_INLINE static T combine(T x, T y) { return Function{}(x, y); }
  OPENTRN_INLINE static T narrow(T x) { return x; }
};
template <typename T>
struct MaxOf : Plain<T, Max> {
  static T neutral() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
};
template <typename T>
struct MinOf : Plain<T, Min> {
  static T neutral() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
};
template <typename T>
struct AbsMaxOf : Plain<T, AbsMax> {
  static T neutral() { return T(0); }
};
template <typename T>
struct AbsMinOf : Plain<T, AbsMin> {
  static T neutral() { return MinOf<T>::neutral(); }
};
template <typename T>
struct LogicalAndOf : Plain<T, LogicalAnd> {
  static T neutral() { return T(1); }
};
template <typename T>
struct LogicalOrOf : Plain<T, LogicalOr> {
  static T neutral() { return T(0); }
};
template <typename T>
struct LogicalXorOf : Plain<T, LogicalXor> {
  static T neutral() { return T(0); }
};
template <typename T>
struct BitwiseAndOf : Plain<T, BitwiseAnd> {
  static T neutral() { return static_cast<T>(~T{0}); }
};
template <typename T>
struct BitwiseOrOf : Plain<T, BitwiseOr> {
  static T neutral() { return T(0); }
};
template <typename T>
struct BitwiseXorOf : Plain<T, BitwiseXor> {
  static T neutral() { return T(0); }
};

// Element i goes to lane i % kReduceLanes, the lanes are folded in half until one is left, and *out comes last.
template <typename Reducer, int64_t width = kReduceLanes / 2>
OPENTRN_INLINE auto fold_lanes(typename Reducer::Wide* lanes) {
  // The width is a constant, so that the halves are added as vectors.
  OPENTRN_INDEPENDENT_LOOP
  for (int64_t j = 0; j < width; ++j) lanes[j] = Reducer::combine(lanes[j], lanes[j + width]);
  if constexpr (width > 1) {
    return fold_lanes<Reducer, width / 2>(lanes);
  } else {
    return lanes[0];
  }
}

template <typename T, typename Reducer>
void reduce_row(int64_t n, std::byte* out, const std::byte* in) {
  using Wide = typename Reducer::Wide;
  const T* from = as<T>(in);
  Wide lanes[kReduceLanes];
  for (Wide& lane : lanes) lane = Reducer::neutral();
  int64_t i = 0;
  for (; i + kReduceLanes <= n; i += kReduceLanes) {
    for (int64_t j = 0; j < kReduceLanes; ++j) lanes[j] = Reducer::combine(lanes[j], Reducer::widen(from[i + j]));
  }
  for (int64_t j = 0; i + j < n; ++j) lanes[j] = Reducer::combine(lanes[j], Reducer::widen(from[i + j]));
  T* to = as<T>(out);
  *to = Reducer::narrow(Reducer::combine(Reducer::widen(*to), fold_lanes<Reducer>(lanes)));
}

// Sums of float32: kernels.h says in which order. Every kernel that is to equal a multiplication and this sum keeps it.
class SumLanes {
 public:
  static constexpr int64_t kWidth = kVectorBytes / static_cast<int64_t>(sizeof(float));
  static constexpr int64_t kVectors = kSumLanes / kWidth;  // of floats

  OPENTRN_INLINE void add(int64_t vector, Floats group) {
    vectors_[2 * vector] += lower_half(group);
    vectors_[2 * vector + 1] += upper_half(group);
  }

  OPENTRN_INLINE double fold() {
    for (int64_t width = kVectors; width > 0; width /= 2) {
      for (int64_t v = 0; v < width; ++v) vectors_[v] += vectors_[v + width];
    }
    double lanes[kWidth / 2];
    store_vector(lanes, vectors_[0]);
    return fold_lanes<Plain<double, Add>, kWidth / 4>(lanes);
  }

 private:
  Doubles vectors_[2 * kVectors] = {};
};

// The kWidth numbers from number i on, those from number n on being 0.
template <typename Vector, typename Number>
OPENTRN_INLINE Floats vector_before(int64_t n, int64_t i, const Vector& vector, const Number& number) {
  if (i + SumLanes::kWidth <= n) return vector(i);
  Floats result = {};
  for (int64_t j = 0; i + j < n; ++j) result[j] = number(i + j);
  return result;
}

/// The sum of up to kSumBlock numbers: `vector(i)` gives kWidth of them from number i on, `number(i)` one.
template <typename Vector, typename Number>
OPENTRN_INLINE double sum_of_block(int64_t n, const Vector& vector, const Number& number) {
  constexpr int64_t kStep = kSumLanes * kSumGroup;
  SumLanes lanes;
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    for (int64_t v = 0; v < SumLanes::kVectors; ++v) {
      const int64_t first = i + v * SumLanes::kWidth;
      Floats group = vector(first);
      for (int64_t g = 1; g < kSumGroup; ++g) group += vector(first + g * kSumLanes);
      lanes.add(v, group);
    }
  }
  if (i == n) return lanes.fold();
  // Unrolled, so that the lanes stay in registers.
#pragma GCC unroll 4
  for (int64_t v = 0; v < SumLanes::kVectors; ++v) {
    Floats group = {};
    for (int64_t at = i + v * SumLanes::kWidth; at < n; at += kSumLanes) group += vector_before(n, at, vector, number);
    lanes.add(v, group);
  }
  return lanes.fold();
}

inline void sum_row(int64_t n, std::byte* out, const std::byte* in) {
  double sum = *as<double>(out);
  for (int64_t done = 0; done < n; done += kSumBlock) {
    const float* from = as<float>(in) + done;
    sum += sum_of_block(
        std::min(kSumBlock, n - done), [from](int64_t i) { return load_vector<Floats>(from + i); },
        [from](int64_t i) { return from[i]; });
  }
  *as<double>(out) = sum;
}

template <template <typename> typename Reducer, bool ordered, bool integers>
ReduceKernel reduction(ComputeType type) {
  return visit_compute_type(type, []<typename T>() -> ReduceKernel {
    if constexpr (integers ? Integer<T> : (!ordered || Ordered<T>)) return reduce_row<T, Reducer<T>>;
    return nullptr;
  });
}

inline ReduceKernel find_reduce(AluOp op, ComputeType type) {
  switch (op) {
    case AluOp::Add: return type == ComputeType::F32 ? sum_row : reduction<SumOf, false, false>(type);
    case AluOp::Multiply: return reduction<ProductOf, false, false>(type);
    case AluOp::Max: return reduction<MaxOf, true, false>(type);
    case AluOp::Min: return reduction<MinOf, true, false>(type);
    case AluOp::AbsMax: return reduction<AbsMaxOf, true, false>(type);
    case AluOp::AbsMin: return reduction<AbsMinOf, true, false>(type);
    case AluOp::LogicalAnd: return reduction<LogicalAndOf, false, false>(type);
    case AluOp::LogicalOr: return reduction<LogicalOrOf, false, false>(type);
    case AluOp::LogicalXor: return reduction<LogicalXorOf, false, false>(type);
    case AluOp::BitwiseAnd: return reduction<BitwiseAndOf, false, true>(type);
    case AluOp::BitwiseOr: return reduction<BitwiseOrOf, false, true>(type);
    case AluOp::BitwiseXor: return reduction<BitwiseXorOf, false, true>(type);
    default: return nullptr;
  }
}
