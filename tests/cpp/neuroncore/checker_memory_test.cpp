#include <random>

#include "neuroncore/memory_map.h"
#include "tests/cpp/neuroncore/checker_samples.h"

namespace opentrn::neuroncore {
namespace {

void set_address(Builder& builder, int32_t buffer, int64_t address) {
  const_cast<Buffer&>(builder.buffer(buffer)).address = address;
}

void write(Builder& b, int32_t buffer) {
  b.memset(b.tile(buffer, {1, 1}, {1, 1}), immediate(b.buffer(buffer).dtype, 0.0));
}
void read(Builder& b, int32_t buffer) {
  b.tensor_copy(b.tile(b.sbuf(b.buffer(buffer).dtype, 1, 1), {1, 1}, {1, 1}), b.tile(buffer, {1, 1}, {1, 1}));
}

TEST(CheckerMemory, CapacityByGeneration) {
  const auto bytes = [](int64_t count, int64_t address) {
    return [=](Builder& b) {
      const int32_t tile = b.sbuf(DType::U8, 128, count);
      set_address(b, tile, address);
      b.memset(b.tile(tile, {1, 128}, {1, 1}), immediate(DType::U8, int64_t{0}));
    };
  };
  struct Size {
    const char* target;
    int64_t bytes;
  };
  for (const Size size : {Size{"trn1", 180224}, {"trn2", 212984}, {"trn3", 245752}}) {
    for (const int64_t address : {-1, 0}) {
      EXPECT_EQ(rules_on(size.target, bytes(size.bytes, address)), kNone) << size.target;
      EXPECT_EQ(rules_on(size.target, bytes(size.bytes + 1, address)), Rules{"sbuf-capacity"}) << size.target;
    }
    EXPECT_EQ(rules_on(size.target, bytes(size.bytes - 64, 64)), kNone);
    EXPECT_EQ(rules_on(size.target, bytes(size.bytes - 64, 65)), Rules{"sbuf-capacity"});
  }
}

TEST(CheckerMemory, CopiesCount) {
  const auto copies = [](int count) {
    return rules([=](Builder& b) { write(b, b.sbuf(DType::F32, 128, 20000, count)); });
  };
  EXPECT_EQ(copies(2), kNone);
  EXPECT_EQ(copies(3), Rules{"sbuf-capacity"});
}

TEST(CheckerMemory, PsumHasEightBanks) {
  const auto elements = [](int64_t count, int copies = 1) {
    return rules([=](Builder& b) { write(b, b.psum(DType::F32, 128, count, copies)); });
  };
  EXPECT_EQ(elements(4096), kNone);
  EXPECT_EQ(elements(4097), Rules{"psum-capacity"});
  EXPECT_EQ(elements(512, 8), kNone);
  EXPECT_EQ(elements(513, 4), kNone);
  EXPECT_EQ(elements(513, 5), Rules{"psum-capacity"}) << "every copy begins a bank";
  EXPECT_EQ(elements(300, 9), Rules{"psum-capacity"}) << "a copy does not cross banks";
}

TEST(CheckerMemory, BuffersInUseAtDifferentTimesNeedLess) {
  EXPECT_EQ(rules([](Builder& b) {
              for (int i = 0; i < 4; ++i) {
                const int32_t tile = b.sbuf(DType::F32, 128, 50000);
                write(b, tile);
                read(b, tile);
              }
            }),
            kNone);
  EXPECT_EQ(rules([](Builder& b) {
              const int32_t one = b.sbuf(DType::F32, 128, 50000);
              const int32_t other = b.sbuf(DType::F32, 128, 50000);
              write(b, one);
              write(b, other);
              read(b, one);
            }),
            Rules{"sbuf-capacity"});
}

/// Two tiles of 64 bytes at these addresses; the second is written while the first is still needed, or after.
Build two_tiles(int64_t first, int64_t second, bool while_in_use) {
  return [=](Builder& b) {
    const int32_t one = b.sbuf(DType::F32, 128, 16);
    const int32_t other = b.sbuf(DType::F32, 128, 16);
    set_address(b, one, first);
    set_address(b, other, second);
    write(b, one);
    if (while_in_use) write(b, other);
    read(b, one);
    if (!while_in_use) write(b, other);
    read(b, other);
  };
}

TEST(CheckerMemory, BuffersDoNotOverlapWhileInUse) {
  EXPECT_EQ(rules(two_tiles(1000, 1064, true)), kNone);
  EXPECT_EQ(rules(two_tiles(1000, 1063, true)), Rules{"memory-overlap"});
  EXPECT_EQ(rules(two_tiles(1000, 937, true)), Rules{"memory-overlap"});
  EXPECT_EQ(rules(two_tiles(1000, 936, true)), kNone);
  EXPECT_EQ(rules(two_tiles(1000, 1000, false)), kNone);
}

TEST(CheckerMemory, AllCopiesOfABufferAreInUse) {
  const auto build = [](int64_t second) {
    return rules([=](Builder& b) {
      const int32_t one = b.sbuf(DType::F32, 128, 16, 2);
      const int32_t other = b.sbuf(DType::F32, 128, 16);
      set_address(b, one, 0);
      set_address(b, other, second);
      b.begin_loop(4, false);
      write(b, one);
      read(b, one);
      write(b, other);
      read(b, other);
      b.end_loop();
    });
  };
  EXPECT_EQ(build(128), kNone);
  EXPECT_EQ(build(127), Rules{"memory-overlap"});
  EXPECT_EQ(build(64), Rules{"memory-overlap"});
}

TEST(CheckerMemory, ValuesCarriedFromOneIterationToTheNextStay) {
  const auto build = [](bool carried) {
    return rules([=](Builder& b) {
      const int32_t one = b.sbuf(DType::F32, 128, 16);
      const int32_t other = b.sbuf(DType::F32, 128, 16);
      set_address(b, one, 0);
      set_address(b, other, 0);
      b.begin_loop(4, false);
      if (!carried) write(b, one);
      read(b, one);
      write(b, one);
      write(b, other);
      read(b, other);
      b.end_loop();
    });
  };
  EXPECT_EQ(build(false), kNone);
  EXPECT_EQ(build(true), Rules{"memory-overlap"});
}

TEST(CheckerMemory, ConstantsHaveData) {
  Program program = built("trn2", [](Builder& b) {
    b.constant(DType::F32, std::vector<std::byte>(16));
    write(b, b.sbuf(DType::F32, 1, 1));
  });
  EXPECT_EQ(broken_rules(program, "trn2"), kNone);
  program.constants[0].resize(15);
  EXPECT_EQ(broken_rules(program, "trn2"), Rules{"buffer"});
}

TEST(CheckerMemory, ParametersLieInHbm) {
  Program program = built("trn2", [](Builder& b) { write(b, b.sbuf(DType::F32, 1, 1)); });
  program.buffers[0].role = Role::Result;
  EXPECT_EQ(broken_rules(program, "trn2"), Rules{"buffer"});
}

TEST(CheckerMemory, InternalMemoryFitsInHbm) {
  const auto bytes = [](int64_t count) {
    return [=](Builder& b) {
      b.dma_copy(b.hbm_access(b.hbm(DType::U8, count), 0, {}, {{1, 1}, {1, 1}}), sbuf(b, DType::U8, 1, 1));
    };
  };
  const int64_t most = machine("trn1").hbm_bytes_per_logical_core();
  EXPECT_EQ(rules_on("trn1", bytes(most)), kNone);
  EXPECT_EQ(rules_on("trn1", bytes(most + 1)), Rules{"hbm-capacity"});
  EXPECT_EQ(rules_on("trn2", bytes(most + 1)), kNone);
}

TEST(Allocate, GivesLegalAddresses) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    Program program = built("trn2", [&](Builder& b) {
      std::vector<int32_t> tiles;
      int open = 0;
      for (int step = 0; step < 40; ++step) {
        const auto choice = random() % 10;
        if (choice == 0 && open < 3) {
          b.begin_loop(1 + static_cast<int64_t>(random() % 4), random() % 2 == 0);
          ++open;
        } else if (choice == 1 && open > 0) {
          b.end_loop();
          --open;
        } else if (choice < 6 || tiles.empty()) {
          const bool in_psum = random() % 3 == 0;
          const int64_t elements = 1 + static_cast<int64_t>(random() % (in_psum ? 500 : 4000));
          const int copies = 1 + static_cast<int>(random() % 2);
          tiles.push_back(in_psum ? b.psum(DType::F32, 128, elements, copies)
                                  : b.sbuf(DType::F32, 128, elements, copies));
          write(b, tiles.back());
        } else {
          read(b, tiles[tiles.size() - 1 - random() % std::min<size_t>(tiles.size(), 3)]);
        }
      }
      for (; open > 0; --open) b.end_loop();
    });
    if (!allocate(program, machine("trn2"))) continue;
    add_waits(program);
    EXPECT_EQ(broken_rules(program, "trn2"), kNone) << seed;
    for (const Buffer& buffer : program.buffers) {
      const int64_t within = buffer.address % kPsumBankBytes;
      if (buffer.space == Space::Psum && copy_bytes(buffer) <= kPsumBankBytes) {
        EXPECT_LE(within + copy_bytes(buffer), kPsumBankBytes) << seed;
      }
    }
  }
}

TEST(Allocate, ReusesMemoryAndSaysWhenItDoesNotFit) {
  const auto program = [](bool at_once) {
    return built("trn2", [=](Builder& b) {
      const int32_t one = b.sbuf(DType::F32, 128, 40000);
      const int32_t other = b.sbuf(DType::F32, 128, 40000);
      write(b, one);
      if (at_once) write(b, other);
      read(b, one);
      if (!at_once) write(b, other);
      read(b, other);
    });
  };
  Program fits = program(false);
  ASSERT_TRUE(allocate(fits, machine("trn2")));
  EXPECT_EQ(fits.buffers[0].address, fits.buffers[1].address);
  Program does_not = program(true);
  EXPECT_FALSE(allocate(does_not, machine("trn2")));
  EXPECT_EQ(does_not.buffers[0].address, -1);
}

}  // namespace
}  // namespace opentrn::neuroncore
