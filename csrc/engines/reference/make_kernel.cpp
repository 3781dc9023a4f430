// Which family makes the kernel of a primitive.
#include "engines/reference/kernel.h"
#include "ir/region.h"

namespace opentrn::engines::reference {

using ir::Op;

namespace {

bool has_region(const Problem& problem) { return !ir::regions_of(problem.node.attributes).empty(); }

}  // namespace

Kernel make_kernel(const Problem& problem) {
  switch (problem.node.op) {
    case Op::Reshape:
      return copy_kernel(problem.operands[0], *reshape_view(problem.results[0], problem.operands[0].shape));
    case Op::Convert: return convert_kernel(problem);
    case Op::BitcastConvert: return bitcast_kernel(problem);
    case Op::Concatenate: return concatenate_kernel(problem);
    case Op::DynamicSlice: return dynamic_slice_kernel(problem);
    case Op::DynamicUpdateSlice: return dynamic_update_slice_kernel(problem);
    case Op::Iota: return iota_kernel(problem);
    case Op::Pad: return pad_kernel(problem);
    case Op::Gather: return gather_kernel(problem);
    case Op::Scatter: return has_region(problem) ? region_scatter_kernel(problem) : scatter_kernel(problem);
    case Op::DotGeneral: return dot_kernel(problem);
    case Op::Reduce: return has_region(problem) ? region_reduce_kernel(problem) : reduce_kernel(problem);
    case Op::ReduceWindow:
      return has_region(problem) ? region_reduce_window_kernel(problem) : reduce_window_kernel(problem);
    case Op::Sort: return has_region(problem) ? region_sort_kernel(problem) : sort_kernel(problem);
    case Op::RngBitGenerator: return rng_kernel(problem);
    case Op::BesselI1e: return bessel_i1e_kernel(problem);
    case Op::CountLeadingZeros: return count_leading_zeros_kernel(problem);
    case Op::ReducePrecision: return reduce_precision_kernel(problem);
    case Op::Case:
    case Op::If: return branch_kernel(problem);
    case Op::Cholesky: return cholesky_kernel(problem);
    case Op::Convolution: return convolution_kernel(problem);
    case Op::Fft: return fft_kernel(problem);
    case Op::Map: return map_kernel(problem);
    case Op::SelectAndScatter: return select_and_scatter_kernel(problem);
    case Op::TriangularSolve: return triangular_solve_kernel(problem);
    case Op::While: return while_kernel(problem);
    case Op::CustomCall: return custom_call_kernel(problem);
    default: return elementwise_kernel(problem);
  }
}

}  // namespace opentrn::engines::reference
