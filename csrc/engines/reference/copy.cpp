#include "engines/reference/copy.h"

#include <array>

#include "base/convert.h"
#include "engines/reference/kernel.h"

namespace opentrn::engines::reference {

StridedCopy::StridedCopy(const View& source, const View& destination) : source_(source), destination_(destination) {
  row_ = convert_row(source.dtype, destination.dtype);
  const std::array<const View*, 2> views{&destination_, &source_};
  nest_ = make_nest(views);
}

void StridedCopy::operator()(const std::byte* source, std::byte* destination) const {
  if (nest_.elements > kGrain) {  // worth the tiling and the threads
    return convert_strided(source, source_.dtype, source_.strides, destination, destination_.dtype,
                           destination_.strides, source_.shape);
  }
  const int64_t source_size = source_.item_size();
  const int64_t destination_size = destination_.item_size();
  run_sequential(nest_, {destination, const_cast<std::byte*>(source)},
                 [&](int64_t n, std::byte* const* pointers, const int64_t* steps) {
                   row_(pointers[1], steps[1] / source_size, pointers[0], steps[0] / destination_size, n);
                 });
}

Kernel copy_kernel(const View& source, const View& destination) {
  return [copy = StridedCopy(source, destination)](std::byte* const* operands, std::byte* const* results) {
    copy(operands[0], results[0]);
  };
}

Kernel convert_kernel(const Problem& problem) { return copy_kernel(problem.operands[0], problem.results[0]); }

}  // namespace opentrn::engines::reference
