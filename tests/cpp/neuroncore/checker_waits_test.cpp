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

TEST(AddWaits, ResultsWaitForTheChecksBeforeThem) {
  Program program = built("trn2", [](Builder& b) {
    const int32_t kept = b.hbm(DType::F32, 64);
    const int32_t result = b.result(0, DType::F32, 64);
    const Access number = sbuf(b, DType::F32, 8, 8);
    b.memset(number, immediate(DType::F32, 1.0));
    b.check(sbuf(b, DType::Bool, 1, 1), "no");
    b.dma_copy(whole(b, kept, 8, 8), number);
    b.dma_copy(whole(b, result, 8, 8), number, Engine::Scalar);
  });
  EXPECT_EQ(waits_of(program, 2), (Waits{{0, 0}}));
  EXPECT_EQ(waits_of(program, 3), (Waits{{1, 0}, {0, 0}}));
  program.instructions[3].waits.erase(program.instructions[3].waits.begin());
  EXPECT_EQ(broken_rules(program, "trn2"), Rules{"hazard"});
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

}  // namespace
}  // namespace opentrn::neuroncore
