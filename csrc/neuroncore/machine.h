// Machine tables: the facts about each Trainium generation, each with its source. Nothing else hard-codes a size.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/dtype.h"
#include "neuroncore/opcode.h"

namespace opentrn::neuroncore {

struct Machine {
  std::string_view name;           // "trn2"
  std::string_view core_name;      // "NeuronCore-v3"
  int physical_cores_per_chip;     // NeuronCores on one chip
  int logical_core_configuration;  // physical cores that form one logical core (LNC)
  int64_t hbm_bytes_per_chip;
  double hbm_bytes_per_second;       // of the chip
  int nki_generation;                // 2, 3, 4: the N of NeuronCore-vN
  int partitions;                    // of SBUF and PSUM
  int64_t sbuf_bytes;                // of one physical core
  int64_t sbuf_bytes_per_partition;  // usable by programs
  int psum_banks;
  int64_t psum_bank_bytes;                 // per partition
  int stationary_free_size;                // most columns of nc_matmul's stationary tile
  int moving_free_size;                    // most columns of nc_matmul's moving tile
  int moving_free_size_bf16;               // the same when the destination is bfloat16; 0: it cannot be
  bool matmul_crosses_banks;               // an output tile of nc_matmul may span PSUM banks
  std::array<double, 5> clock_hz;          // by Engine
  std::array<double, 5> least_cycles;      // of one instruction, by Engine (MIN_II)
  std::array<double, 5> start_up_cycles;   // of an instruction that nothing hides, by Engine
  double vector_elements_per_cycle_16bit;  // per partition, in the fastest performance mode
  double scalar_elements_per_cycle_16bit;  // per partition
  int matmul_passes_f32;
  double activation_table_load_seconds;
  int dma_engines;                     // of one physical core
  double dma_engine_bytes_per_second;  // achievable, of one engine
  double dma_start_seconds;            // from the semaphore to the first byte
  double dma_element_seconds;          // of every contiguous piece, beside its bytes
  double dma_read_modify_write_rate;   // share of the copy rate when a DMA adds to its destination

  int64_t psum_bytes_per_partition() const { return psum_banks * psum_bank_bytes; }
  int64_t hbm_bytes_per_logical_core() const {
    return hbm_bytes_per_chip * logical_core_configuration / physical_cores_per_chip;
  }
  int logical_cores_per_chip() const { return physical_cores_per_chip / logical_core_configuration; }
  double clock(Engine engine) const { return clock_hz[static_cast<size_t>(engine)]; }
  double least(Engine engine) const { return least_cycles[static_cast<size_t>(engine)]; }
  double start_up(Engine engine) const { return start_up_cycles[static_cast<size_t>(engine)]; }
};

// Limits that all generations share. AWS Neuron documentation, "NKI: Trainium architecture guides".
constexpr int64_t kPsumBankBytes = 2048;       // of each partition
constexpr int kPartitionQuadrant = 32;         // partitions start at multiples of it
constexpr int kMostFreeDimensions = 4;         // of an access pattern on the chip
constexpr int64_t kMostFreeElements = 65536;   // of one operand, per partition
constexpr int64_t kMostPatternSize = 65535;    // uint16
constexpr int64_t kMostPatternStep = 32767;    // int16, elements
constexpr int64_t kVectorTransposeBlock = 32;  // rows and columns of nc_transpose on Vector
constexpr int64_t kFewestSearched = 8;         // elements of max8, nc_find_index8, nc_match_replace8
constexpr int64_t kMostSearched = 16384;
constexpr int64_t kShuffleMask = 32;    // entries of nc_stream_shuffle's mask
constexpr int64_t kShuffleKeeps = 255;  // the entry that leaves a partition as it is
constexpr int kRegisters = 64;          // of each engine's sequencer

/// All generations, the default first.
std::span<const Machine> machines();

/// The machine of that name. Raises an Error of kind Value that lists the valid names.
const Machine& machine(std::string_view name);

/// Whether engines have a unit for the type. Programs may use the others too: they are executed exactly and reported.
bool is_native(const Machine& machine, DType dtype);

/// Whether nc_matmul takes operands of the type.
bool matmul_takes(const Machine& machine, DType dtype);

/// Whether nc_matmul writes the type to PSUM.
bool matmul_writes(const Machine& machine, DType dtype);

}  // namespace opentrn::neuroncore
