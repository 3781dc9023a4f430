// What the emulator's tests share: memory filled with numbers, and runs of one program in every mode.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "base/convert.h"
#include "neuroncore/builder.h"
#include "neuroncore/emulator.h"

namespace opentrn::neuroncore {

/// Elements of any type, as bytes.
struct Memory {
  DType dtype = DType::F32;
  std::vector<std::byte> bytes;

  Memory() = default;
  Memory(DType type, int64_t elements) : dtype(type), bytes(static_cast<size_t>(elements * size_of(type))) {}

  int64_t size() const { return static_cast<int64_t>(bytes.size()) / size_of(dtype); }
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
  double at(int64_t i) const {
    double result = 0;
    convert_strided(bytes.data() + i * size_of(dtype), dtype, {}, &result, DType::F64, {}, {});
    return result;
  }
  void set(int64_t i, double value) {
    convert_strided(&value, DType::F64, {}, bytes.data() + i * size_of(dtype), dtype, {}, {});
  }
};

/// Numbers that every type but bool holds exactly: small multiples of a half, or integers.
inline Memory numbers(DType dtype, int64_t elements, uint32_t seed = 1) {
  Memory memory(dtype, elements);
  std::mt19937 random(seed);
  for (int64_t i = 0; i < elements; ++i) {
    const auto value = static_cast<int>(random() % 17);
    const bool is_unsigned = category(dtype) == Category::Unsigned || category(dtype) == Category::Bool;
    const double number = is_unsigned ? value : value - 8;
    memory.set(i, is_float(dtype) || is_complex(dtype) ? number / 2 : number);
  }
  return memory;
}

struct Mode {
  const char* name;
  EmulatorOptions options;
};
inline constexpr Mode kModes[] = {{"check", {.check = true, .macros = false}},
                                  {"plain", {.check = false, .macros = false}},
                                  {"fast", {.check = false, .macros = true}}};

/// Runs the program; `results` hold what was in memory before.
inline void run(const Program& program, EmulatorOptions options, const std::vector<Memory>& parameters,
                std::vector<Memory>& results) {
  std::vector<const void*> in;
  std::vector<void*> out;
  for (const Memory& memory : parameters) in.push_back(memory.bytes.data());
  for (Memory& memory : results) out.push_back(memory.bytes.data());
  Emulator(program, machine(program.target), options).run(in, out);
}

/// Runs the program in every mode and holds the results equal, bit for bit. Returns them.
inline std::vector<Memory> run_all(const Program& program, const std::vector<Memory>& parameters,
                                   const std::vector<Memory>& before) {
  std::vector<Memory> first;
  for (const Mode& mode : kModes) {
    std::vector<Memory> results = before;
    run(program, mode.options, parameters, results);
    if (first.empty()) {
      first = std::move(results);
      continue;
    }
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].bytes, first[i].bytes) << mode.name << ", result " << i;
    }
  }
  return first;
}

/// A tile of a one-instruction program.
struct TileShape {
  DType dtype = DType::F32;
  int64_t partitions = 1;
  int64_t elements = 1;
  int64_t size() const { return partitions * elements; }
};

/// Loads a tile for each of `ins` (and for each of `outs`, so that what is kept can be seen), lets `emit` add
/// instructions on them, and stores the tiles of `outs`. Parameters: ins, then what was in outs.
inline Program on_tiles(
    const std::vector<TileShape>& outs, const std::vector<TileShape>& ins,
    const std::function<void(Builder&, const std::vector<Access>&, const std::vector<Access>&)>& emit) {
  Builder b("one", "trn2");
  std::vector<Access> in_tiles, out_tiles, stored;
  int32_t index = 0;
  const auto hbm_rows = [&](int32_t buffer, const TileShape& shape) {
    return b.hbm_access(buffer, 0, {},
                        {{.step = shape.elements, .size = shape.partitions}, {.step = 1, .size = shape.elements}});
  };
  const auto load = [&](const TileShape& shape, std::vector<Access>& tiles) {
    const int32_t parameter = b.parameter(index++, shape.dtype, shape.size());
    tiles.push_back(b.tile(b.sbuf(shape.dtype, shape.partitions, shape.elements)));
    b.dma_copy(tiles.back(), hbm_rows(parameter, shape));
  };
  for (const TileShape& shape : ins) load(shape, in_tiles);
  for (const TileShape& shape : outs) load(shape, out_tiles);
  emit(b, out_tiles, in_tiles);
  for (size_t i = 0; i < outs.size(); ++i) {
    const int32_t result = b.result(static_cast<int32_t>(i), outs[i].dtype, outs[i].size());
    b.dma_copy(hbm_rows(result, outs[i]), out_tiles[i]);
  }
  return b.finish();
}

/// Runs `on_tiles` programs: results with `kept` in the output tiles before.
inline std::vector<Memory> run_on_tiles(const Program& program, std::vector<Memory> ins,
                                        const std::vector<Memory>& kept) {
  std::vector<Memory> before;
  for (const Memory& memory : kept) before.emplace_back(memory.dtype, memory.size());
  ins.insert(ins.end(), kept.begin(), kept.end());
  return run_all(program, ins, before);
}

}  // namespace opentrn::neuroncore
