// Leaves out data movement that nobody can tell from looking at HBM directly: a load whose source is not overwritten
// while the tile lives, and a store of a tile that is computed for nothing else. The result is a program whose
// instructions read and write HBM themselves.
#pragma once

#include <vector>

#include "neuroncore/program.h"

namespace opentrn::neuroncore::emulator {

/// A parameter and a result (by Buffer::index) that the shortened program takes to be disjoint, though the original one
/// would do with overlapping ones.
struct Assumption {
  int32_t parameter = -1;
  int32_t result = -1;
  bool operator==(const Assumption&) const = default;
};

struct Shortened {
  Program program;  // without the constants, which need not be copied
  std::vector<Assumption> assumptions;
};

Shortened without_copies(const Program& program);

/// A program that shares everything with another one but the data of its constants.
Program without_constants(const Program& program);

}  // namespace opentrn::neuroncore::emulator
