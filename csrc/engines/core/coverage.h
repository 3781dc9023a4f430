// What the engine `core` has a tile form for, found out by compiling one small graph per primitive and element type.
#pragma once

#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "neuroncore/machine.h"

namespace opentrn::engines::core {

struct CoverageRow {
  std::string_view primitive;
  std::vector<DType> tiles;    // element types with a tile form
  std::vector<DType> library;  // element types that need a GpSimd library call
  std::vector<DType> no_unit;  // element types computed exactly, but by no native unit
  std::string_view note = {};  // of primitives that no element type decides about
};

/// One row per primitive, in the order of the catalogue; types the primitive is not defined for are in no list.
std::vector<CoverageRow> coverage(const neuroncore::Machine& machine);

}  // namespace opentrn::engines::core
