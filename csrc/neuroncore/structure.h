// Where everything stands in a program: order, loops around an instruction, loops around all uses of a buffer. Made
// once, read by the checker and by the analysis of dependencies.
#pragma once

#include <cstdint>
#include <vector>

#include "neuroncore/program.h"

namespace opentrn::neuroncore {

struct Structure {
  explicit Structure(const Program& program);

  /// Instructions in program order, each loop body once.
  std::vector<int32_t> order;
  /// By instruction: its place in `order`, -1 when no body holds it, and how many bodies hold it.
  std::vector<int32_t> position;
  std::vector<int32_t> occurrences;
  /// By instruction: the innermost loop around it, -1 for none.
  std::vector<int32_t> loop_of;
  /// By loop: the loop around it (-1 for none), how deep it lies (outermost: 0; -1: in no body), its range of
  /// positions.
  std::vector<int32_t> parent;
  std::vector<int32_t> depth;
  std::vector<int32_t> first, last;
  /// By instruction: which statement of the program's own body it belongs to.
  std::vector<int32_t> phase;
  /// By buffer: the innermost loop around all its accesses (-1: none), the first and last position of one. last < first
  /// when nothing uses it.
  std::vector<int32_t> home;
  std::vector<int32_t> first_use, last_use;
  /// Statements that do not exist, loops and instructions that appear twice or inside themselves.
  bool malformed = false;

  bool encloses(int32_t loop, int32_t inner) const;
  bool has_loop(int32_t instruction, int32_t loop) const {
    return encloses(loop, loop_of[static_cast<size_t>(instruction)]);
  }
  /// The innermost loop around both, -1 for none. Arguments are loops or -1.
  int32_t common_loop(int32_t one, int32_t other) const;

 private:
  void walk(const std::vector<Statement>& body, int32_t loop, int32_t top);
  void note_buffers();

  const Program* program_;
};

/// Inclusive range of elements. Empty when high < low.
struct Interval {
  int64_t low = 0;
  int64_t high = -1;
};

/// Offsets (elements, `offset` included) that an access reaches over all iterations of the loops for which
/// `varies(loop)`; other loops stand at their first iteration with full tiles. On chip the partition dimension is left
/// out. An indirect access reaches all its indices. Terms of registers are left out: their values are not known.
template <typename Varies>
Interval reach(const Program& program, const Access& access, bool on_chip, Varies varies);

bool has_register(const Access& access);

namespace detail {
struct LoopReach {
  int32_t loop = -1;
  int64_t count = 1;
  int64_t coefficient = 0;
  int64_t full_low = 0, full_high = 0, tail_low = 0, tail_high = 0;
};
/// The extremes over the iterations of one loop: full tiles in all but the last, the tail in the last.
Interval extremes(const LoopReach& part);
}  // namespace detail

template <typename Varies>
Interval reach(const Program& program, const Access& access, bool on_chip, Varies varies) {
  Interval result{access.offset, access.offset};
  std::vector<detail::LoopReach> parts;
  auto part = [&](int32_t loop) -> detail::LoopReach& {
    for (detail::LoopReach& candidate : parts) {
      if (candidate.loop == loop) return candidate;
    }
    parts.push_back({.loop = loop, .count = program.loops[static_cast<size_t>(loop)].count});
    return parts.back();
  };
  for (const Term& term : access.terms) {
    if (!term.is_register && varies(term.index)) part(term.index).coefficient += term.coefficient;
  }
  for (size_t d = on_chip ? 1 : 0; d < access.pattern.size(); ++d) {
    const PatternDimension& dimension = access.pattern[d];
    const int64_t full = dimension.step * (dimension.size - 1);
    if (dimension.tail_loop < 0 || !varies(dimension.tail_loop)) {
      (full < 0 ? result.low : result.high) += full;
      continue;
    }
    const int64_t tail = dimension.step * (dimension.tail - 1);
    detail::LoopReach& loop = part(dimension.tail_loop);
    (full < 0 ? loop.full_low : loop.full_high) += full;
    (tail < 0 ? loop.tail_low : loop.tail_high) += tail;
  }
  for (const detail::LoopReach& one : parts) {
    const Interval reached = detail::extremes(one);
    result.low += reached.low;
    result.high += reached.high;
  }
  if (access.index_operand >= 0) {
    const int64_t last = access.index_step * (access.index_limit > 0 ? access.index_limit - 1 : 0);
    (last < 0 ? result.low : result.high) += last;
  }
  return result;
}

}  // namespace opentrn::neuroncore
