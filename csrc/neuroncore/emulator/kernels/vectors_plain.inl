// Vectors of 128 bits, which every machine has, in the compiler's own vector types.

inline constexpr int64_t kVectorBytes = 16;
inline constexpr int kTileRows = 4;     // of a matrix product, in registers together with
inline constexpr int kTileVectors = 2;  // this many vectors of columns

typedef float Floats __attribute__((vector_size(kVectorBytes)));
typedef double Doubles __attribute__((vector_size(kVectorBytes)));

OPENTRN_INLINE Floats broadcast(float x) { return Floats{x, x, x, x}; }
OPENTRN_INLINE Doubles broadcast(double x) { return Doubles{x, x}; }
OPENTRN_INLINE Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
OPENTRN_INLINE Doubles multiply_add(Doubles a, Doubles b, Doubles c) { return a * b + c; }
OPENTRN_INLINE double multiply_add(double a, double b, double c) { return a * b + c; }
OPENTRN_INLINE float multiply_add(float a, float b, float c) { return a * b + c; }

OPENTRN_INLINE Floats widen(const BFloat16* from) { return Floats{from[0], from[1], from[2], from[3]}; }
OPENTRN_INLINE Floats widen(const Half* from) { return Floats{from[0], from[1], from[2], from[3]}; }

// The halves of a vector of floats, as doubles.
OPENTRN_INLINE Doubles lower_half(Floats x) { return Doubles{x[0], x[1]}; }
OPENTRN_INLINE Doubles upper_half(Floats x) { return Doubles{x[2], x[3]}; }
