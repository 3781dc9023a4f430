#include "neuroncore/dependencies.h"

#include <algorithm>
#include <array>
#include <optional>

#include "neuroncore/memory_map.h"

namespace opentrn::neuroncore {

namespace {

constexpr size_t kEngines = 5;
constexpr size_t kQueues = 2 * kEngines;  // the engines, then the DMA queues they start

/// Instructions of an engine run one after the other. DMAs of a queue start one after the other and, as each of the DMA
/// engines processes its part of the queue in order, are also finished in that order; but one may start before the one
/// before it is finished.
size_t queue_of(const Instruction& instruction) {
  return static_cast<size_t>(instruction.engine) + (instruction.opcode == Opcode::DmaCopy ? kEngines : 0);
}
bool is_dma(size_t queue) { return queue >= kEngines; }

struct Footprint {
  int32_t instruction = -1;
  bool writes = false;
  const Access* access = nullptr;  // null: all of it
};

struct Need {
  int32_t instruction = -1;
  Wait wait;
  int32_t buffer = -1;
};

/// Bytes that an access moves on with every iteration of a loop.
int64_t coefficient(const Access& access, int32_t loop) {
  int64_t sum = 0;
  for (const Term& term : access.terms) {
    if (!term.is_register && term.index == loop) sum += term.coefficient;
  }
  return sum * size_of(access.dtype);
}

/// The orders that a program needs.
class Needs {
 public:
  Needs(const Program& program, const Structure& structure) : program_(program), structure_(structure) {
    collect();
    for (size_t b = 0; b < by_buffer_.size(); ++b) within(static_cast<int32_t>(b));
    for (const auto& [one, other] : shared_memory(program, structure)) between(one, other);
    for (const SharedMemory& shared : program.shared) in_place(shared);
    behind_traps();
  }

  std::vector<std::vector<Need>> take() { return std::move(needs_); }

 private:
  void collect() {
    needs_.resize(program_.instructions.size());
    by_buffer_.resize(program_.buffers.size() + static_cast<size_t>(program_.registers));
    for (const int32_t number : structure_.order) {
      const Instruction& instruction = program_.instructions[static_cast<size_t>(number)];
      for (const Access& access : instruction.inputs) note(number, access, false);
      for (const Access& access : instruction.outputs) note(number, access, true);
      if (instruction.register_index >= 0) register_footprints(instruction.register_index).push_back({number, true});
    }
  }

  std::vector<Footprint>& register_footprints(int32_t index) {
    return by_buffer_[program_.buffers.size() + static_cast<size_t>(index)];
  }

  void note(int32_t number, const Access& access, bool writes) {
    by_buffer_[static_cast<size_t>(access.buffer)].push_back({number, writes, &access});
    for (const Term& term : access.terms) {
      if (term.is_register) register_footprints(term.index).push_back({number, false});
    }
  }

  void within(int32_t buffer) {
    const std::vector<Footprint>& all = by_buffer_[static_cast<size_t>(buffer)];
    if (std::none_of(all.begin(), all.end(), [](const Footprint& one) { return one.writes; })) return;
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = i; j < all.size(); ++j) pair(all[i], all[j], buffer, false);
    }
  }

  void between(int32_t one, int32_t other) {
    for (const Footprint& a : by_buffer_[static_cast<size_t>(one)]) {
      for (const Footprint& b : by_buffer_[static_cast<size_t>(other)]) {
        const bool in_order = position(a) <= position(b);
        pair(in_order ? a : b, in_order ? b : a, other, true);
      }
    }
  }

  /// A result in the memory of a parameter: each element is written by the iteration that reads it, or later.
  void in_place(const SharedMemory& shared) {
    const int32_t parameter = find(Role::Parameter, shared.parameter);
    const int32_t result = find(Role::Result, shared.result);
    if (parameter < 0 || result < 0) return;
    for (const Footprint& read : by_buffer_[static_cast<size_t>(parameter)]) {
      for (const Footprint& write : by_buffer_[static_cast<size_t>(result)]) {
        if (write.writes && position(read) < position(write)) require(write, read, 0, result);
      }
    }
  }

  /// A program that ends with an error has written no result behind the instruction that ended it.
  void behind_traps() {
    std::vector<Footprint> before;
    for (const int32_t number : structure_.order) {
      const Instruction& instruction = program_.instructions[static_cast<size_t>(number)];
      if (traps(instruction.opcode)) before.push_back({number, true});
      for (const Access& access : instruction.outputs) {
        if (program_.buffers[static_cast<size_t>(access.buffer)].role != Role::Result) continue;
        for (const Footprint& trap : before) {
          if (trap.instruction != number) require({number, true, &access}, trap, 0, access.buffer);
        }
      }
    }
  }

  int32_t find(Role role, int32_t index) const {
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      if (program_.buffers[b].role == role && program_.buffers[b].index == index) return static_cast<int32_t>(b);
    }
    return -1;
  }

  int32_t position(const Footprint& one) const { return structure_.position[static_cast<size_t>(one.instruction)]; }
  const Instruction& instruction(const Footprint& one) const {
    return program_.instructions[static_cast<size_t>(one.instruction)];
  }

  /// `early` stands before `late` in the program, or both are the same instruction.
  void pair(const Footprint& early, const Footprint& late, int32_t buffer, bool two_buffers) {
    if (!early.writes && !late.writes) return;
    const size_t queue = queue_of(instruction(early));
    if (queue == queue_of(instruction(late)) && !is_dma(queue)) return;
    const bool same = early.instruction == late.instruction;
    if (!same && (two_buffers || meet_in_one_iteration(early, late))) {
      require(late, early, 0, buffer);
    } else if (!same) {
      if (const auto distance = carried(early, late, buffer, two_buffers)) require(late, early, *distance, buffer);
    }
    if (const auto distance = carried(late, early, buffer, two_buffers)) require(early, late, *distance, buffer);
  }

  void require(const Footprint& waiting, const Footprint& waited, int64_t iterations, int32_t buffer) {
    const bool is_buffer = static_cast<size_t>(buffer) < program_.buffers.size();
    const auto distance = static_cast<int32_t>(std::min<int64_t>(iterations, INT32_MAX));
    needs_[static_cast<size_t>(waiting.instruction)].push_back(
        {waiting.instruction, {waited.instruction, distance}, is_buffer ? buffer : -1});
  }

  int32_t loop_around(const Footprint& one) const { return structure_.loop_of[static_cast<size_t>(one.instruction)]; }
  int32_t common_loop(const Footprint& one, const Footprint& other) const {
    return structure_.common_loop(loop_around(one), loop_around(other));
  }
  bool on_chip(const Footprint& one) const {
    return program_.buffers[static_cast<size_t>(one.access->buffer)].space != Space::Hbm;
  }

  static bool separate_partitions(const Access& one, const Access& other) {
    return one.partition + one.pattern.front().size <= other.partition ||
           other.partition + other.pattern.front().size <= one.partition;
  }

  /// Nothing more is known than that they touch the same buffer.
  static bool unknown(const Footprint& one, const Footprint& other) {
    return one.access == nullptr || other.access == nullptr || has_register(*one.access) || has_register(*other.access);
  }

  /// The bytes an access reaches when the loops from `fixed` outwards stand still, as far as both move alike in them.
  Interval reach_inside(const Footprint& one, const Footprint& other, int32_t fixed) const {
    const Interval elements = reach(program_, *one.access, on_chip(one), [&](int32_t loop) {
      const bool stands = fixed >= 0 && structure_.encloses(loop, fixed);
      return !stands || coefficient(*one.access, loop) != coefficient(*other.access, loop);
    });
    const int64_t size = size_of(one.access->dtype);
    return {elements.low * size, (elements.high + 1) * size - 1};
  }

  bool meet_in_one_iteration(const Footprint& one, const Footprint& other) const {
    if (unknown(one, other)) return true;
    if (on_chip(one) && separate_partitions(*one.access, *other.access)) return false;
    const int32_t common = common_loop(one, other);
    const Interval a = reach_inside(one, other, common);
    const Interval b = reach_inside(other, one, common);
    return a.low <= b.high && b.low <= a.high;
  }

  /// Smallest number of iterations of `loop`, at least `least` and a multiple of `step`, after which `late` touches
  /// what `early` touched; both loops outside and, equally, `loop` itself are taken into account.
  std::optional<int64_t> distance_in(int32_t loop, const Footprint& early, const Footprint& late, int64_t step) const {
    const Loop& around = program_.loops[static_cast<size_t>(loop)];
    if (step > around.count - 1) return std::nullopt;
    if (unknown(early, late)) return step;
    if (on_chip(early) && separate_partitions(*early.access, *late.access)) return std::nullopt;
    const Interval a = reach_inside(early, late, loop);
    const Interval b = reach_inside(late, early, loop);
    const int64_t moves = coefficient(*early.access, loop);
    if (moves != coefficient(*late.access, loop) || moves == 0)
      return a.low <= b.high && b.low <= a.high ? std::optional(step) : std::nullopt;
    // moves * distance must lie within [a.low - b.high, a.high - b.low].
    const int64_t size = std::abs(moves);
    const int64_t low = moves > 0 ? a.low - b.high : b.low - a.high;
    const int64_t high = moves > 0 ? a.high - b.low : b.high - a.low;
    if (high < size * step) return std::nullopt;
    const int64_t stride = size * step;
    const int64_t multiple = low <= stride ? 1 : (low + stride - 1) / stride;
    const bool exists = multiple * stride <= high && multiple * step <= around.count - 1;
    return exists ? std::optional(multiple * step) : std::nullopt;
  }

  /// After how many iterations of the innermost common loop, at the least, `late` touches what `early` touched.
  std::optional<int64_t> carried(const Footprint& early, const Footprint& late, int32_t buffer,
                                 bool two_buffers) const {
    const int32_t common = common_loop(early, late);
    const bool is_buffer = static_cast<size_t>(buffer) < program_.buffers.size();
    const Buffer* memory = is_buffer ? &program_.buffers[static_cast<size_t>(buffer)] : nullptr;
    const bool rotates = memory != nullptr && !two_buffers && memory->copies > 1;
    const int32_t home = rotates ? structure_.home[static_cast<size_t>(buffer)] : -1;
    const bool in_hbm = memory != nullptr && memory->space == Space::Hbm && !two_buffers;
    int64_t unit = 1;       // iterations of the common loop in one of the loop under test
    bool separated = true;  // iterations of the loops passed so far touch different elements
    for (int32_t loop = common; loop >= 0; loop = structure_.parent[static_cast<size_t>(loop)]) {
      const Loop& around = program_.loops[static_cast<size_t>(loop)];
      const int64_t copies = loop == home ? memory->copies : 1;
      const bool disjoint = in_hbm && around.independent;
      const auto distance = two_buffers ? std::optional<int64_t>(1) : distance_in(loop, early, late, copies);
      if (distance && !disjoint) return separated ? *distance * unit : (home == common ? memory->copies : 1);
      const auto back = two_buffers ? std::nullopt : distance_in(loop, late, early, copies);
      // A rotating buffer comes back to the same memory in a later run of its loop.
      if (distance || back || copies > 1) separated = false;
      unit *= std::max<int64_t>(around.count, 1);
      if (unit > INT32_MAX) unit = INT32_MAX;
    }
    return std::nullopt;
  }

  const Program& program_;
  const Structure& structure_;
  std::vector<std::vector<Footprint>> by_buffer_;  // registers behind the buffers
  std::vector<std::vector<Need>> needs_;           // by waiting instruction
};

/// What an instruction knows to be finished when it starts, from waits and the order within queues.
class Clocks {
 public:
  Clocks(const Program& program, const Structure& structure)
      : program_(program),
        structure_(structure),
        now_(program.instructions.size()),
        before_(program.instructions.size()) {
    for (Finished& finished : now_) finished.fill(-1);
    last_in_loop_.resize(program.loops.size());
    for (Finished& last : last_in_loop_) last.fill(-1);
    previous_.assign(program.instructions.size(), -1);
    Finished latest;
    latest.fill(-1);
    for (const int32_t number : structure.order) {
      const size_t queue = queue_of(at(number));
      previous_[static_cast<size_t>(number)] = latest[queue];
      latest[queue] = number;
      for (int32_t loop = structure.loop_of[static_cast<size_t>(number)]; loop >= 0;
           loop = structure.parent[static_cast<size_t>(loop)]) {
        last_in_loop_[static_cast<size_t>(loop)][queue] = number;
      }
    }
  }

  /// First pass, in program order: order within one iteration.
  void start(int32_t number) {
    const int32_t previous = previous_[static_cast<size_t>(number)];
    if (previous >= 0) now_[static_cast<size_t>(number)] = now_[static_cast<size_t>(previous)];
  }
  bool knows(int32_t number, int32_t waited) const {
    const size_t queue = queue_of(at(waited));
    if (queue == queue_of(at(number)) && !is_dma(queue)) return true;
    return now_[static_cast<size_t>(number)][queue] >= position(waited);
  }
  void wait(int32_t number, int32_t waited) {
    Finished& mine = now_[static_cast<size_t>(number)];
    const Finished& theirs = now_[static_cast<size_t>(waited)];
    for (size_t q = 0; q < kQueues; ++q) mine[q] = std::max(mine[q], theirs[q]);
    int32_t& own = mine[queue_of(at(waited))];
    own = std::max(own, position(waited));
  }

  /// Second pass, in program order: order between iterations, when the first pass is through all instructions.
  void start_carried(int32_t number) {
    const size_t queue = queue_of(at(number));
    inherit(number, previous_[static_cast<size_t>(number)]);
    for (int32_t loop = structure_.loop_of[static_cast<size_t>(number)]; loop >= 0;
         loop = structure_.parent[static_cast<size_t>(loop)]) {
      const int32_t last = last_in_loop_[static_cast<size_t>(loop)][queue];
      learn(number, loop, last, 1);
    }
  }
  void inherit(int32_t number, int32_t from) {
    if (from < 0) return;
    for (const Fact& fact : before_[static_cast<size_t>(from)]) {
      if (structure_.has_loop(number, fact.loop)) add(number, fact);
    }
  }
  bool knows_carried(int32_t number, Wait wanted) const {
    const size_t queue = queue_of(at(wanted.instruction));
    if (queue == queue_of(at(number)) && !is_dma(queue)) return true;
    const int32_t loop = common(number, wanted.instruction);
    if (now_[static_cast<size_t>(number)][queue] >= structure_.first[static_cast<size_t>(loop)]) return true;
    for (const Fact& fact : before_[static_cast<size_t>(number)]) {
      if (fact.loop == loop && fact.queue == queue && !is_weaker(fact, wanted.iterations, position(wanted.instruction)))
        return true;
    }
    return false;
  }
  void wait_carried(int32_t number, Wait wait) {
    const int32_t loop = common(number, wait.instruction);
    learn(number, loop, wait.instruction, wait.iterations);
    add(number, {loop, queue_of(at(wait.instruction)), wait.iterations, position(wait.instruction)});
  }

 private:
  using Finished = std::array<int32_t, kQueues>;

  /// Everything of a queue up to a position is finished, as it was so many iterations of a loop ago.
  struct Fact {
    int32_t loop = -1;
    size_t queue = 0;
    int32_t iterations = 0;
    int32_t position = -1;
  };

  static bool is_weaker(const Fact& fact, int32_t iterations, int32_t position) {
    return fact.iterations > iterations || (fact.iterations == iterations && fact.position < position);
  }

  const Instruction& at(int32_t number) const { return program_.instructions[static_cast<size_t>(number)]; }
  int32_t position(int32_t number) const { return structure_.position[static_cast<size_t>(number)]; }
  int32_t common(int32_t one, int32_t other) const {
    return structure_.common_loop(structure_.loop_of[static_cast<size_t>(one)],
                                  structure_.loop_of[static_cast<size_t>(other)]);
  }

  /// What `from` knew within its iteration is known `iterations` later.
  void learn(int32_t number, int32_t loop, int32_t from, int32_t iterations) {
    const Finished& theirs = now_[static_cast<size_t>(from)];
    for (size_t q = 0; q < kQueues; ++q) {
      if (theirs[q] >= structure_.first[static_cast<size_t>(loop)]) add(number, {loop, q, iterations, theirs[q]});
    }
  }

  void add(int32_t number, const Fact& fact) {
    std::vector<Fact>& facts = before_[static_cast<size_t>(number)];
    for (Fact& known : facts) {
      if (known.loop != fact.loop || known.queue != fact.queue) continue;
      if (is_weaker(known, fact.iterations, fact.position)) known = fact;
      return;
    }
    facts.push_back(fact);
  }

  const Program& program_;
  const Structure& structure_;
  std::vector<Finished> now_;              // by instruction: last finished position of every queue, in this iteration
  std::vector<std::vector<Fact>> before_;  // by instruction: the same of earlier iterations
  std::vector<Finished> last_in_loop_;     // by loop: last instruction of every queue
  std::vector<int32_t> previous_;          // by instruction: the one before it in its queue
};

bool stronger(const Structure& structure, const Need& one, const Need& other) {
  const int32_t a = structure.position[static_cast<size_t>(one.wait.instruction)];
  const int32_t b = structure.position[static_cast<size_t>(other.wait.instruction)];
  if (one.wait.iterations != other.wait.iterations) return one.wait.iterations < other.wait.iterations;
  return a > b;
}

}  // namespace

void add_waits(Program& program) {
  const Structure structure(program);
  std::vector<std::vector<Need>> needs = Needs(program, structure).take();
  for (Instruction& instruction : program.instructions) instruction.waits.clear();
  Clocks clocks(program, structure);
  for (const int32_t number : structure.order) {
    std::vector<Need>& mine = needs[static_cast<size_t>(number)];
    std::sort(mine.begin(), mine.end(), [&](const Need& a, const Need& b) { return stronger(structure, a, b); });
    clocks.start(number);
    for (const Need& need : mine) {
      if (need.wait.iterations != 0 || clocks.knows(number, need.wait.instruction)) continue;
      clocks.wait(number, need.wait.instruction);
      program.instructions[static_cast<size_t>(number)].waits.push_back(need.wait);
    }
  }
  for (const int32_t number : structure.order) {
    std::vector<Wait>& waits = program.instructions[static_cast<size_t>(number)].waits;
    clocks.start_carried(number);
    for (const Wait& wait : waits) clocks.inherit(number, wait.instruction);
    for (const Need& need : needs[static_cast<size_t>(number)]) {
      if (need.wait.iterations == 0 || clocks.knows_carried(number, need.wait)) continue;
      clocks.wait_carried(number, need.wait);
      waits.push_back(need.wait);
    }
  }
}

std::vector<MissingWait> missing_waits(const Program& program, const Structure& structure) {
  const std::vector<std::vector<Need>> needs = Needs(program, structure).take();
  Clocks clocks(program, structure);
  for (const int32_t number : structure.order) {
    clocks.start(number);
    for (const Wait& wait : program.instructions[static_cast<size_t>(number)].waits) {
      if (wait.iterations == 0) clocks.wait(number, wait.instruction);
    }
  }
  std::vector<MissingWait> missing;
  for (const int32_t number : structure.order) {
    clocks.start_carried(number);
    for (const Wait& wait : program.instructions[static_cast<size_t>(number)].waits) {
      if (wait.iterations == 0)
        clocks.inherit(number, wait.instruction);
      else
        clocks.wait_carried(number, wait);
    }
    for (const Need& need : needs[static_cast<size_t>(number)]) {
      const bool known = need.wait.iterations == 0 ? clocks.knows(number, need.wait.instruction)
                                                   : clocks.knows_carried(number, need.wait);
      if (!known) missing.push_back({number, need.wait, need.buffer});
    }
  }
  return missing;
}

}  // namespace opentrn::neuroncore
