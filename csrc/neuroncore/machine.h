// Machine tables: the facts about each Trainium generation, each with its source.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace opentrn::neuroncore {

struct Machine {
  std::string_view name;           // "trn2"
  std::string_view core_name;      // "NeuronCore-v3"
  int physical_cores_per_chip;     // NeuronCores on one chip
  int logical_core_configuration;  // physical cores that form one logical core (LNC)
  int64_t hbm_bytes_per_chip;
  int nki_generation;                      // 2, 3, 4: the N of NeuronCore-vN
  int partitions;                          // of SBUF and PSUM
  int64_t sbuf_bytes_per_partition;        // usable by programs
  int psum_banks;
  int64_t psum_bank_bytes;                 // per partition
  int stationary_free_size;                // most columns of nc_matmul's stationary tile
  int moving_free_size;                    // most columns of nc_matmul's moving tile
  int64_t hbm_bytes_per_logical_core() const {
    return hbm_bytes_per_chip * logical_core_configuration / physical_cores_per_chip;
  }
  int logical_cores_per_chip() const { return physical_cores_per_chip / logical_core_configuration; }
};

/// All generations, the default first.
std::span<const Machine> machines();

/// The machine of that name. Raises an Error of kind Value that lists the valid names.
const Machine& machine(std::string_view name);

}  // namespace opentrn::neuroncore
