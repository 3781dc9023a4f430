// What the compiler is told about the innermost loops.
#pragma once

#define OPENTRN_INLINE inline __attribute__((always_inline))

// The iterations of the next loop may run in any order: a result is either the very same elements as an operand or
// shares none.
#if defined(__clang__)
// Some of these loops call functions that have no vector form, which is nothing to warn of.
#pragma clang diagnostic ignored "-Wpass-failed"
#define OPENTRN_INDEPENDENT_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define OPENTRN_INDEPENDENT_LOOP _Pragma("GCC ivdep")
#endif
