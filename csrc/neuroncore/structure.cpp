#include "neuroncore/structure.h"

#include <algorithm>

namespace opentrn::neuroncore {

Structure::Structure(const Program& program)
    : position(program.instructions.size(), -1),
      occurrences(program.instructions.size(), 0),
      loop_of(program.instructions.size(), -1),
      parent(program.loops.size(), -1),
      depth(program.loops.size(), -1),
      first(program.loops.size(), 0),
      last(program.loops.size(), -1),
      phase(program.instructions.size(), 0),
      home(program.buffers.size(), -1),
      first_use(program.buffers.size(), 0),
      last_use(program.buffers.size(), -1),
      program_(&program) {
  order.reserve(program.instructions.size());
  walk(program.body, -1, -1);
  note_buffers();
}

void Structure::walk(const std::vector<Statement>& body, int32_t loop, int32_t top) {
  for (size_t s = 0; s < body.size(); ++s) {
    const Statement& statement = body[s];
    const int32_t number = loop < 0 ? static_cast<int32_t>(s) : top;
    const bool is_loop = statement.loop >= 0;
    const auto at = static_cast<size_t>(is_loop ? statement.loop : statement.instruction);
    if (at >= (is_loop ? parent.size() : position.size()) || is_loop == (statement.instruction >= 0)) {
      malformed = true;
      continue;
    }
    if (!is_loop) {
      if (++occurrences[at] > 1) {
        malformed = true;
        continue;
      }
      position[at] = static_cast<int32_t>(order.size());
      loop_of[at] = loop;
      phase[at] = number;
      order.push_back(statement.instruction);
      continue;
    }
    if (depth[at] >= 0) {
      malformed = true;
      continue;
    }
    parent[at] = loop;
    depth[at] = loop < 0 ? 0 : depth[static_cast<size_t>(loop)] + 1;
    first[at] = static_cast<int32_t>(order.size());
    walk(program_->loops[at].body, statement.loop, number);
    last[at] = static_cast<int32_t>(order.size()) - 1;
  }
}

void Structure::note_buffers() {
  for (const int32_t number : order) {
    const Instruction& instruction = program_->instructions[static_cast<size_t>(number)];
    const int32_t at = position[static_cast<size_t>(number)];
    const int32_t loop = loop_of[static_cast<size_t>(number)];
    const auto note = [&](const Access& access) {
      const auto buffer = static_cast<size_t>(access.buffer);
      if (buffer >= home.size()) return;
      const bool is_first = last_use[buffer] < first_use[buffer];
      home[buffer] = is_first ? loop : common_loop(home[buffer], loop);
      if (is_first) first_use[buffer] = at;
      last_use[buffer] = at;
    };
    for (const Access& access : instruction.inputs) note(access);
    for (const Access& access : instruction.outputs) note(access);
  }
}

bool Structure::encloses(int32_t loop, int32_t inner) const {
  const int32_t wanted = depth[static_cast<size_t>(loop)];
  while (inner >= 0 && depth[static_cast<size_t>(inner)] > wanted) inner = parent[static_cast<size_t>(inner)];
  return inner == loop;
}

int32_t Structure::common_loop(int32_t one, int32_t other) const {
  while (one != other) {
    if (one < 0 || other < 0) return -1;
    int32_t& deeper = depth[static_cast<size_t>(one)] >= depth[static_cast<size_t>(other)] ? one : other;
    deeper = parent[static_cast<size_t>(deeper)];
  }
  return one;
}

bool has_register(const Access& access) {
  return std::any_of(access.terms.begin(), access.terms.end(), [](const Term& term) { return term.is_register; });
}

namespace detail {

Interval extremes(const LoopReach& part) {
  const int64_t end = part.count > 0 ? part.count - 1 : 0;
  Interval result{part.coefficient * end + part.tail_low, part.coefficient * end + part.tail_high};
  if (part.count < 2) return result;
  const int64_t before = part.coefficient * (end - 1);
  result.low = std::min({result.low, part.full_low, before + part.full_low});
  result.high = std::max({result.high, part.full_high, before + part.full_high});
  return result;
}

}  // namespace detail

}  // namespace opentrn::neuroncore
