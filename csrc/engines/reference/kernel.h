// A kernel is one primitive with everything resolved: types, shapes and strides are fixed, only the addresses are
// missing.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/error.h"
#include "engines/reference/nest.h"
#include "ir/graph.h"
#include "ir/view.h"

namespace opentrn::engines::reference {

using ir::View;

/// Addresses of the first element of each operand and of each result.
using Kernel = std::function<void(std::byte* const* operands, std::byte* const* results)>;

/// What a kernel is made for: a node and how its operands and results lie in memory.
struct Problem {
  const ir::Node& node;
  std::span<const View> operands;
  std::span<const View> results;
};

/// The kernel of any primitive that is not only another look at memory.
Kernel make_kernel(const Problem& problem);

/// One function per family of primitives.
Kernel elementwise_kernel(const Problem& problem);
Kernel convert_kernel(const Problem& problem);
Kernel bitcast_kernel(const Problem& problem);
Kernel concatenate_kernel(const Problem& problem);
Kernel dynamic_slice_kernel(const Problem& problem);
Kernel dynamic_update_slice_kernel(const Problem& problem);
Kernel iota_kernel(const Problem& problem);
Kernel pad_kernel(const Problem& problem);
Kernel gather_kernel(const Problem& problem);
Kernel scatter_kernel(const Problem& problem);
Kernel dot_kernel(const Problem& problem);
Kernel reduce_kernel(const Problem& problem);
Kernel reduce_window_kernel(const Problem& problem);
Kernel sort_kernel(const Problem& problem);
Kernel rng_kernel(const Problem& problem);
Kernel custom_call_kernel(const Problem& problem);
Kernel expectation_kernel(const Problem& problem);
Kernel bessel_i1e_kernel(const Problem& problem);
Kernel count_leading_zeros_kernel(const Problem& problem);
Kernel reduce_precision_kernel(const Problem& problem);
Kernel cholesky_kernel(const Problem& problem);
Kernel convolution_kernel(const Problem& problem);
Kernel fft_kernel(const Problem& problem);
Kernel triangular_solve_kernel(const Problem& problem);
/// Primitives that carry regions; the first four where the region is none the IR has a word for.
Kernel region_reduce_kernel(const Problem& problem);
Kernel region_reduce_window_kernel(const Problem& problem);
Kernel region_scatter_kernel(const Problem& problem);
Kernel region_sort_kernel(const Problem& problem);
Kernel branch_kernel(const Problem& problem);
Kernel map_kernel(const Problem& problem);
Kernel select_and_scatter_kernel(const Problem& problem);
Kernel while_kernel(const Problem& problem);

/// Copies between two views of equal shape and element type.
Kernel copy_kernel(const View& source, const View& destination);

/// Refuses a primitive on an element type it is not defined for.
[[noreturn]] void raise_unsupported(std::string_view primitive, DType dtype);

/// Reads one integer element of any integer type.
int64_t read_integer(const std::byte* address, DType dtype);

}  // namespace opentrn::engines::reference
