// Waits of random programs, judged by a model that executes every order of events.
#include <array>
#include <random>
#include <utility>

#include "neuroncore/memory_map.h"
#include "tests/cpp/neuroncore/checker_samples.h"

namespace opentrn::neuroncore {
namespace {

// A brute-force model: every execution with the elements it touches. A pair is ordered when a path of waits and of
// in-order queues leads from the end of the one to the start of the other.
struct Execution {
  int32_t instruction = -1;
  std::vector<int64_t> iterations;                                    // by loop, -1 outside
  std::vector<std::pair<std::pair<int32_t, int64_t>, bool>> touched;  // (memory, cell), writes
};

class Model {
 public:
  explicit Model(const Program& program) : program_(program), structure_(program), runs_(program.loops.size(), 0) {
    std::vector<int64_t> now(program.loops.size(), -1);
    run(program.body, now);
    order();
  }

  /// Pairs that touch the same cell, one of them writing, and that nothing orders. `forgiven`: pairs in different
  /// iterations of an independent loop that meet in HBM.
  int unordered() const {
    int count = 0;
    for (size_t late = 0; late < executions_.size(); ++late) {
      for (size_t early = 0; early < late; ++early) {
        if (conflict(executions_[early], executions_[late]) && !before(early, late)) ++count;
      }
    }
    return count;
  }

  size_t executions() const { return executions_.size(); }

 private:
  void run(const std::vector<Statement>& body, std::vector<int64_t>& now) {
    for (const Statement& statement : body) {
      if (statement.loop < 0) {
        execute(statement.instruction, now);
        continue;
      }
      const auto loop = static_cast<size_t>(statement.loop);
      for (now[loop] = 0; now[loop] < program_.loops[loop].count; ++now[loop]) {
        run(program_.loops[loop].body, now);
        ++runs_[loop];
      }
      now[loop] = -1;
    }
  }

  void execute(int32_t number, const std::vector<int64_t>& now) {
    Execution execution{number, now, {}};
    const Instruction& instruction = program_.instructions[static_cast<size_t>(number)];
    for (const Access& access : instruction.outputs) touch(access, true, now, execution);
    for (const Access& access : instruction.inputs) touch(access, false, now, execution);
    running_.push_back(runs_);
    executions_.push_back(std::move(execution));
  }

  void touch(const Access& access, bool writes, const std::vector<int64_t>& now, Execution& execution) {
    const auto buffer = static_cast<size_t>(access.buffer);
    const int32_t home = structure_.home[buffer];
    const int64_t turn = home >= 0 ? runs_[static_cast<size_t>(home)] : 0;
    int64_t base = access.offset + 1000000 * (turn % program_.buffers[buffer].copies);
    for (const Term& term : access.terms) base += term.coefficient * now[static_cast<size_t>(term.index)];
    for (int64_t p = 0; p < access.pattern[0].size; ++p) {
      for (int64_t e = 0; e < access.pattern[1].size; ++e) {
        const bool chip = program_.buffers[buffer].space != Space::Hbm;
        const int64_t partition = chip ? 10000 * (access.partition + p) : access.pattern[0].step * p;
        execution.touched.push_back({{access.buffer, base + partition + access.pattern[1].step * e}, writes});
      }
    }
  }

  bool conflict(const Execution& early, const Execution& late) const {
    const bool apart = independent_apart(early, late);
    for (const auto& [cell, writes] : late.touched) {
      const bool in_hbm = program_.buffers[static_cast<size_t>(cell.first)].space == Space::Hbm;
      if (in_hbm && apart) continue;
      for (const auto& [other, other_writes] : early.touched) {
        if (cell == other && (writes || other_writes)) return true;
      }
    }
    return false;
  }

  /// Both lie in one independent loop, in different iterations of the same run of it.
  bool independent_apart(const Execution& early, const Execution& late) const {
    for (size_t loop = 0; loop < program_.loops.size(); ++loop) {
      if (!program_.loops[loop].independent || early.iterations[loop] < 0 || late.iterations[loop] < 0) continue;
      bool same_run = true;
      for (int32_t outer = structure_.parent[loop]; outer >= 0; outer = structure_.parent[static_cast<size_t>(outer)]) {
        const auto o = static_cast<size_t>(outer);
        same_run = same_run && early.iterations[o] == late.iterations[o];
      }
      if (same_run && early.iterations[loop] != late.iterations[loop]) return true;
    }
    return false;
  }

  int queue(size_t execution) const {
    const Instruction& instruction = program_.instructions[static_cast<size_t>(executions_[execution].instruction)];
    return static_cast<int>(instruction.engine) + (instruction.opcode == Opcode::DmaCopy ? 5 : 0);
  }

  /// For each execution and queue, how many executions of the queue are finished when it starts.
  void order() {
    known_.resize(executions_.size());
    index_.resize(executions_.size());
    std::array<int, 10> counts{};
    std::array<int64_t, 10> latest{};
    latest.fill(-1);
    for (size_t x = 0; x < executions_.size(); ++x) {
      const auto own = static_cast<size_t>(queue(x));
      index_[x] = ++counts[own];
      if (latest[own] >= 0) known_[x] = known_[static_cast<size_t>(latest[own])];
      if (own < 5) known_[x][own] = index_[x] - 1;
      for (const Wait& wait : program_.instructions[static_cast<size_t>(executions_[x].instruction)].waits) {
        const int64_t waited = find(x, wait);
        if (waited < 0) continue;
        const auto w = static_cast<size_t>(waited);
        for (size_t q = 0; q < 10; ++q) known_[x][q] = std::max(known_[x][q], known_[w][q]);
        int& there = known_[x][static_cast<size_t>(queue(w))];
        there = std::max(there, index_[w]);
      }
      latest[own] = static_cast<int64_t>(x);
    }
  }

  int64_t find(size_t x, const Wait& wait) const {
    const int32_t loop = structure_.common_loop(structure_.loop_of[static_cast<size_t>(executions_[x].instruction)],
                                                structure_.loop_of[static_cast<size_t>(wait.instruction)]);
    for (size_t w = x; w-- > 0;) {
      if (executions_[w].instruction != wait.instruction) continue;
      if (wait.iterations == 0) return static_cast<int64_t>(w);
      const auto l = static_cast<size_t>(loop);
      if (running_[w][l] == running_[x][l] - wait.iterations) return static_cast<int64_t>(w);
    }
    return -1;
  }

  bool before(size_t early, size_t late) const {
    return known_[late][static_cast<size_t>(queue(early))] >= index_[early];
  }

  const Program& program_;
  Structure structure_;
  std::vector<int64_t> runs_;  // by loop: iterations so far, through all runs
  std::vector<Execution> executions_;
  std::vector<std::vector<int64_t>> running_;
  std::vector<std::array<int, 10>> known_;
  std::vector<int> index_;
};

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed), b_("random", "trn2") {
    for (int i = 0; i < 3; ++i) tiles_.push_back(b_.sbuf(DType::F32, 4, 16, 1 + below(3)));
    hbm_ = {b_.hbm(DType::F32, 64), b_.result(0, DType::F32, 64)};
    statements(0);
    if (b_.buffer(tiles_[0]).copies > 0) instruction();
  }

  Program finish() { return b_.finish(); }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<uint32_t>(limit)); }

  void statements(int depth) {
    const int count = 2 + below(3);
    for (int i = 0; i < count; ++i) {
      if (depth < 3 && below(3) == 0) {
        loops_.push_back(b_.begin_loop(1 + below(3), below(4) == 0));
        statements(depth + 1);
        loops_.pop_back();
        b_.end_loop();
      } else {
        instruction();
      }
    }
  }

  Access tile() {
    const int32_t buffer = tiles_[static_cast<size_t>(below(static_cast<int>(tiles_.size())))];
    Access access = b_.tile(buffer, {1, 2}, {1, 4});
    access.partition = 2 * below(2);
    access.offset = below(3);
    if (!loops_.empty() && below(2) == 0) access.terms.push_back(term(4));
    return access;
  }

  Access memory() {
    const int32_t buffer = hbm_[static_cast<size_t>(below(2))];
    Access access = b_.hbm_access(buffer, below(4), {}, {{4, 2}, {1, 4}});
    if (!loops_.empty() && below(2) == 0) access.terms.push_back(term(8));
    return access;
  }

  Term term(int64_t coefficient) {
    const auto which = static_cast<size_t>(below(static_cast<int>(loops_.size())));
    return {.index = loops_[which], .coefficient = below(3) == 0 ? coefficient / 2 : coefficient};
  }

  void instruction() {
    constexpr std::array kDmaEngines{Engine::Sync, Engine::Scalar};
    switch (below(5)) {
      case 0: b_.dma_copy(tile(), memory(), kDmaEngines[static_cast<size_t>(below(2))]); break;
      case 1: b_.dma_copy(memory(), tile(), kDmaEngines[static_cast<size_t>(below(2))]); break;
      case 2: b_.tensor_copy(tile(), tile()); break;
      case 3: b_.activation(tile(), ActivationFunction::Exp, tile()); break;
      default: b_.memset(tile(), immediate(DType::F32, 0.0), Engine::GpSimd); break;
    }
  }

  std::mt19937 random_;
  Builder b_;
  std::vector<int32_t> tiles_, hbm_, loops_;
};

TEST(AddWaits, OrdersEveryConflictOfRandomPrograms) {
  int waits = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    Program program = RandomProgram(seed).finish();
    if (Model(program).executions() > 400) continue;
    add_waits(program);
    EXPECT_EQ(Model(program).unordered(), 0) << seed;
    const Structure structure(program);
    EXPECT_TRUE(missing_waits(program, structure).empty()) << seed;
    for (const Instruction& instruction : program.instructions) waits += static_cast<int>(instruction.waits.size());
  }
  EXPECT_GT(waits, 1000);
}

TEST(CheckerHazards, UnorderedConflictsOfRandomProgramsAreFound) {
  std::mt19937 random(7);
  int broken = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Program program = RandomProgram(seed).finish();
    if (Model(program).executions() > 300) continue;
    add_waits(program);
    for (Instruction& instruction : program.instructions) {
      if (!instruction.waits.empty() && random() % 4 == 0) instruction.waits.pop_back();
    }
    if (Model(program).unordered() == 0) continue;
    ++broken;
    EXPECT_FALSE(missing_waits(program, Structure(program)).empty()) << seed;
  }
  EXPECT_GT(broken, 50);
}

}  // namespace
}  // namespace opentrn::neuroncore
