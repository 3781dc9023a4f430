#include <array>
#include <random>
#include <utility>

#include "base/error.h"
#include "neuroncore/memory_map.h"
#include "tests/cpp/neuroncore/checker_samples.h"

namespace opentrn::neuroncore {
namespace {

using Waits = std::vector<std::pair<int32_t, int32_t>>;  // instruction, iterations

Waits waits_of(const Program& program, size_t instruction) {
  Waits waits;
  for (const Wait& wait : program.instructions[instruction].waits)
    waits.emplace_back(wait.instruction, wait.iterations);
  return waits;
}

Access whole(Builder& b, int32_t hbm, int64_t partitions, int64_t elements) {
  return b.hbm_access(hbm, 0, {}, {{elements, partitions}, {1, elements}});
}

/// load, add one, store on a queue of its own.
Build add_one(int copies, bool independent = true) {
  return [=](Builder& b) {
    const int32_t source = b.parameter(0, DType::F32, 8 * 64);
    const int32_t result = b.result(0, DType::F32, 8 * 64);
    const int32_t loop = b.begin_loop(8, independent);
    const int32_t in = b.sbuf(DType::F32, 8, 8, copies);
    const int32_t out = b.sbuf(DType::F32, 8, 8, copies);
    const std::vector<Term> terms{{.index = loop, .coefficient = 64}};
    b.dma_copy(b.tile(in), b.hbm_access(source, 0, terms, {{8, 8}, {1, 8}}));
    b.tensor_scalar(b.tile(out), b.tile(in), AluOp::Add, immediate(DType::F32, 1.0));
    b.dma_copy(b.hbm_access(result, 0, terms, {{8, 8}, {1, 8}}), b.tile(out), Engine::Scalar);
    b.end_loop();
  };
}

TEST(AddWaits, DoubleBufferedLoop) {
  const Program program = built("trn2", add_one(2));
  EXPECT_EQ(waits_of(program, 0), (Waits{{1, 2}})) << "the tile's reader two iterations ago";
  EXPECT_EQ(waits_of(program, 1), (Waits{{0, 0}, {2, 2}}));
  EXPECT_EQ(waits_of(program, 2), (Waits{{1, 0}}));
}

TEST(AddWaits, SingleBufferedLoop) {
  const Program program = built("trn2", add_one(1));
  EXPECT_EQ(waits_of(program, 0), (Waits{{1, 1}}));
  EXPECT_EQ(waits_of(program, 1), (Waits{{0, 0}, {2, 1}}));
  EXPECT_EQ(waits_of(program, 2), (Waits{{1, 0}}));
}

TEST(AddWaits, DisjointElementsOfADependentLoopNeedNoOrder) {
  const Program program = built("trn2", [](Builder& b) {
    const int32_t result = b.result(0, DType::F32, 512);
    const Access tile = sbuf(b, DType::F32, 1, 64);
    b.memset(tile, immediate(DType::F32, 0.0));
    const int32_t loop = b.begin_loop(8, false);
    b.dma_copy(b.hbm_access(result, 0, {{.index = loop, .coefficient = 64}}, {{1, 1}, {1, 64}}), tile);
    b.end_loop();
  });
  EXPECT_EQ(waits_of(program, 1), (Waits{{0, 0}}));
}

TEST(AddWaits, OverlappingElementsOfADependentLoopAreOrdered) {
  const auto build = [](int64_t step) {
    return built("trn2", [=](Builder& b) {
      const int32_t result = b.result(0, DType::F32, 512);
      const Access tile = sbuf(b, DType::F32, 1, 64);
      b.memset(tile, immediate(DType::F32, 0.0));
      const int32_t loop = b.begin_loop(4, false);
      b.dma_copy(b.hbm_access(result, 0, {{.index = loop, .coefficient = step}}, {{1, 1}, {1, 64}}), tile);
      b.end_loop();
    });
  };
  EXPECT_EQ(waits_of(build(63), 1), (Waits{{0, 0}, {1, 1}}));
  EXPECT_EQ(waits_of(build(0), 1), (Waits{{0, 0}, {1, 1}}));
  EXPECT_EQ(waits_of(build(64), 1), (Waits{{0, 0}}));
}

TEST(AddWaits, ElementsThatComeBackLater) {
  // Iteration i writes 64 elements from 32 i, in two strides: what it wrote is written again two iterations later.
  const Program program = built("trn2", [](Builder& b) {
    const int32_t result = b.result(0, DType::F32, 512);
    const Access tile = sbuf(b, DType::F32, 1, 8);
    b.memset(tile, immediate(DType::F32, 0.0));
    const int32_t loop = b.begin_loop(4, false);
    const std::vector<Term> terms{{.index = loop, .coefficient = 8}};
    b.dma_copy(b.hbm_access(result, 0, terms, {{1, 1}, {1, 8}}), tile);
    b.dma_copy(b.hbm_access(result, 16, terms, {{1, 1}, {1, 8}}), tile, Engine::Scalar);
    b.end_loop();
  });
  EXPECT_EQ(waits_of(program, 1), (Waits{{0, 0}, {2, 2}}));
}

TEST(AddWaits, InOrderOnOneEngine) {
  const Program program = built("trn2", [](Builder& b) {
    const Access tile = sbuf(b, DType::F32, 8, 8);
    b.memset(tile, immediate(DType::F32, 0.0));
    b.tensor_scalar(tile, tile, AluOp::Add, immediate(DType::F32, 1.0));
    b.activation(tile, ActivationFunction::Exp, tile);
    b.tensor_scalar(tile, tile, AluOp::Add, immediate(DType::F32, 1.0));
  });
  EXPECT_EQ(waits_of(program, 0), Waits{});
  EXPECT_EQ(waits_of(program, 1), Waits{});
  EXPECT_EQ(waits_of(program, 2), (Waits{{1, 0}}));
  EXPECT_EQ(waits_of(program, 3), (Waits{{2, 0}}));
}

TEST(AddWaits, ImpliedOrdersAreLeftOut) {
  const Program program = built("trn2", [](Builder& b) {
    const Access tile = sbuf(b, DType::F32, 8, 8);
    const Access other = sbuf(b, DType::F32, 8, 8);
    const int32_t result = b.result(0, DType::F32, 64);
    b.dma_copy(tile, whole(b, b.parameter(0, DType::F32, 64), 8, 8));
    b.activation(other, ActivationFunction::Exp, tile);
    b.tensor_tensor(other, other, tile, AluOp::Add);
    b.dma_copy(whole(b, result, 8, 8), other, Engine::Scalar);
  });
  EXPECT_EQ(waits_of(program, 1), (Waits{{0, 0}}));
  EXPECT_EQ(waits_of(program, 2), (Waits{{1, 0}})) << "which waited for the load";
  EXPECT_EQ(waits_of(program, 3), (Waits{{2, 0}}));
}

TEST(AddWaits, DmasOfOneQueueAreNotInOrder) {
  const Program program = built("trn2", [](Builder& b) {
    const int32_t between = b.hbm(DType::F32, 64);
    b.dma_copy(whole(b, between, 8, 8), whole(b, b.parameter(0, DType::F32, 64), 8, 8));
    b.dma_copy(whole(b, b.result(0, DType::F32, 64), 8, 8), whole(b, between, 8, 8));
  });
  EXPECT_EQ(waits_of(program, 1), (Waits{{0, 0}}));
}

TEST(AddWaits, DisjointPartitionsAndColumns) {
  const Program program = built("trn2", [](Builder& b) {
    const int32_t tile = b.sbuf(DType::F32, 128, 16);
    const auto part = [&](int32_t partition, int64_t offset) {
      Access access = b.tile(tile, {1, 32}, {1, 8});
      access.partition = partition;
      access.offset = offset;
      return access;
    };
    b.memset(part(0, 0), immediate(DType::F32, 0.0));
    b.activation(part(32, 0), ActivationFunction::Exp, sbuf(b, DType::F32, 32, 8));
    b.tensor_copy(part(0, 8), sbuf(b, DType::F32, 32, 8), Engine::GpSimd);
  });
  for (const size_t i : {0, 1, 2}) EXPECT_EQ(waits_of(program, i), Waits{}) << i;
}

TEST(AddWaits, RegistersAreLoadedBeforeTheyAreUsed) {
  const Program program = built("trn2", [](Builder& b) {
    const int32_t index = b.new_register();
    b.register_load(index, b.hbm_access(b.parameter(1, DType::I32, 1), 0, {}, {{1, 1}, {1, 1}}));
    Access src = whole(b, b.parameter(0, DType::F32, 640), 8, 8);
    src.terms = {{.index = index, .coefficient = 8, .is_register = true}};
    b.dma_copy(sbuf(b, DType::F32, 8, 8), src);
  });
  EXPECT_EQ(waits_of(program, 1), (Waits{{0, 0}}));
}

TEST(AddWaits, BuffersThatShareMemoryAreOrdered) {
  Builder b("sample", "trn2");
  const int32_t one = b.sbuf(DType::F32, 8, 8);
  const int32_t other = b.sbuf(DType::F32, 8, 8);
  b.activation(b.tile(b.sbuf(DType::F32, 8, 8)), ActivationFunction::Exp, b.tile(one));
  b.memset(b.tile(other), immediate(DType::F32, 0.0));
  Program program = b.finish();
  program.buffers[static_cast<size_t>(one)].address = 0;
  program.buffers[static_cast<size_t>(other)].address = 16;
  add_waits(program);
  EXPECT_EQ(waits_of(program, 1), (Waits{{0, 0}}));
  program.buffers[static_cast<size_t>(other)].address = 32;
  add_waits(program);
  EXPECT_EQ(waits_of(program, 1), Waits{});
}

TEST(AddWaits, ResultInTheMemoryOfAParameter) {
  Builder b("sample", "trn2");
  const int32_t parameter = b.parameter(0, DType::F32, 64);
  const int32_t result = b.result(0, DType::F32, 64);
  b.dma_copy(sbuf(b, DType::F32, 8, 8), whole(b, parameter, 8, 8));
  b.dma_copy(whole(b, result, 8, 8), sbuf(b, DType::F32, 8, 8), Engine::Scalar);
  Program program = b.finish();
  add_waits(program);
  EXPECT_EQ(waits_of(program, 1), Waits{});
  program.shared.push_back({.result = 0, .parameter = 0});
  EXPECT_EQ(broken_rules(program, "trn2"), Rules{"hazard"});
  add_waits(program);
  EXPECT_EQ(waits_of(program, 1), (Waits{{0, 0}}));
}

TEST(CheckerHazards, EveryMissingWaitIsFound) {
  Program program = built("trn2", add_one(2));
  EXPECT_EQ(broken_rules(program, "trn2"), kNone);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    for (size_t w = 0; w < program.instructions[i].waits.size(); ++w) {
      Program without = program;
      without.instructions[i].waits.erase(without.instructions[i].waits.begin() + static_cast<int64_t>(w));
      EXPECT_EQ(broken_rules(without, "trn2"), Rules{"hazard"}) << i << " " << w;
    }
  }
}

TEST(CheckerHazards, WaitForAnEarlierIterationIsNotEnough) {
  Program program = built("trn2", add_one(2));
  program.instructions[0].waits[0].iterations = 1;
  EXPECT_EQ(broken_rules(program, "trn2"), kNone) << "more than needed";
  program.instructions[0].waits[0].iterations = 3;
  EXPECT_EQ(broken_rules(program, "trn2"), Rules{"hazard"});
}

TEST(CheckerHazards, MessageNamesBothAndTheBuffer) {
  Program program = built("trn2", add_one(2));
  program.instructions[2].waits.clear();
  const std::vector<Violation> found = violations(program, machine("trn2"));
  ASSERT_EQ(found.size(), 1u);
  for (const char* part : {"[dma_copy #2]", "tensor_scalar #1", "buffer sbuf3", "add_waits"})
    EXPECT_NE(found[0].message.find(part), std::string::npos) << found[0].message;
}

TEST(CheckerWaits, MustExistAndComeBefore) {
  const auto with = [](Wait wait) {
    Program program = built("trn2", add_one(2));
    program.instructions[0].waits.push_back(wait);
    return broken_rules(program, "trn2");
  };
  EXPECT_EQ(with({1, 2}), kNone);
  EXPECT_EQ(with({7, 0}), Rules{"wait"});
  EXPECT_EQ(with({-1, 0}), Rules{"wait"});
  EXPECT_EQ(with({1, 0}), Rules{"wait"});
  EXPECT_EQ(with({0, 0}), Rules{"wait"});
  EXPECT_EQ(with({1, -1}), Rules{"wait"});
}

TEST(CheckerHazards, CheckRaisesWithTheRules) {
  Program program = built("trn2", add_one(2));
  check(program, machine("trn2"));
  program.instructions[2].waits.clear();
  try {
    check(program, machine("trn2"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Internal);
    EXPECT_NE(std::string(error.what()).find("hazard"), std::string::npos) << error.what();
  }
}

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
