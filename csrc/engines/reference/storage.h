// Where values live, and the reuse of temporary memory.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/view.h"

namespace opentrn::engines::reference {

using ir::View;

enum class Home : uint8_t { Parameter, Result, Scratch, Constant };

/// A piece of memory that one or more values are views of.
struct Storage {
  Home home = Home::Scratch;
  int32_t index = 0;   // of the parameter or result
  int64_t offset = 0;  // in the scratch or constant memory
  int64_t bytes = 0;
};

struct Place {
  int32_t storage = -1;
  View view;
};

/// What a step touches, for the lifetimes of temporaries. Storages are numbered as in the planner's list.
struct Access {
  std::vector<Place> operands;
  std::vector<Place> results;
  uint64_t overwritable = 0;  // bit i: operand i may be overwritten in place, element by element, by result 0
};

/// Gives every Scratch storage its offset so that storages whose lifetimes do not meet share memory; returns the bytes
/// needed.
int64_t assign_scratch(std::vector<Storage>& storages, const std::vector<Access>& steps);

}  // namespace opentrn::engines::reference
