// Everything the .inl files of this folder need from outside, included before any wider instruction set is switched on:
// an inline function of a header compiled for a wide set could replace the plain copy of another file at link time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/complex_functions.h"
#include "base/dtype.h"
#include "base/half.h"
#include "base/loops.h"
#include "base/special_functions.h"
#include "neuroncore/emulator/kernels.h"
#include "neuroncore/emulator/kernels/scratch.h"

namespace opentrn::neuroncore::emulator {

/// The tables, defined one a file. Those of other architectures or compilers do not exist.
const KernelTable& baseline_kernels();
#if defined(__x86_64__)
const KernelTable& avx2_kernels();
const KernelTable& avx512_kernels();
const KernelTable& avx512bf16_kernels();
#endif

}  // namespace opentrn::neuroncore::emulator
