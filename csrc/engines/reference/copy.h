// Copying strided elements: what most data movement comes down to.
#pragma once

#include <cstddef>

#include "base/convert_rows.h"
#include "engines/reference/nest.h"
#include "ir/view.h"

namespace opentrn::engines::reference {

using ir::View;

/// A copy, with conversion when the element types differ, between two layouts of equal shape. Offsets of the views are
/// not looked at: the addresses given are those of the first elements.
class StridedCopy {
 public:
  StridedCopy() = default;
  StridedCopy(const View& source, const View& destination);
  void operator()(const std::byte* source, std::byte* destination) const;

 private:
  View source_, destination_;
  ConvertRow row_ = nullptr;
  Nest nest_;
};

}  // namespace opentrn::engines::reference
