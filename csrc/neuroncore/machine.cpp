#include "neuroncore/machine.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"

namespace opentrn::neuroncore {

namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

// Cores per chip and HBM: AWS Neuron documentation, "Trainium2 Architecture", "Trainium Architecture", "Trainium3
// Architecture". Logical cores: the same documentation, "Logical NeuronCore configuration": 2 by default on trn2 and
// trn3; trn1 has none.
constexpr std::array<Machine, 3> kMachines{{
    {.name = "trn2",
     .core_name = "NeuronCore-v3",
     .physical_cores_per_chip = 8,
     .logical_core_configuration = 2,
     .hbm_bytes_per_chip = 96 * kGiB,
     .nki_generation = 3,
     .partitions = 128,
     .sbuf_bytes_per_partition = 212984,
     .psum_banks = 8,
     .psum_bank_bytes = 2048,
     .stationary_free_size = 128,
     .moving_free_size = 512},
    {.name = "trn1",
     .core_name = "NeuronCore-v2",
     .physical_cores_per_chip = 2,
     .logical_core_configuration = 1,
     .hbm_bytes_per_chip = 32 * kGiB,
     .nki_generation = 2,
     .partitions = 128,
     .sbuf_bytes_per_partition = 180224,
     .psum_banks = 8,
     .psum_bank_bytes = 2048,
     .stationary_free_size = 128,
     .moving_free_size = 512},
    {.name = "trn3",
     .core_name = "NeuronCore-v4",
     .physical_cores_per_chip = 8,
     .logical_core_configuration = 2,
     .hbm_bytes_per_chip = 144 * kGiB,
     .nki_generation = 4,
     .partitions = 128,
     .sbuf_bytes_per_partition = 245752,
     .psum_banks = 8,
     .psum_bank_bytes = 2048,
     .stationary_free_size = 128,
     .moving_free_size = 4096},
}};

std::string valid_names() {
  std::string names;
  for (const Machine& machine : kMachines) {
    if (!names.empty()) names += ", ";
    names += machine.name;
  }
  return names;
}

}  // namespace

std::span<const Machine> machines() { return kMachines; }

const Machine& machine(std::string_view name) {
  const auto found =
      std::find_if(kMachines.begin(), kMachines.end(), [&](const Machine& machine) { return machine.name == name; });
  if (found != kMachines.end()) return *found;
  raise(ErrorKind::Value, {.where = "OPENTRN_TARGET",
                           .what = "no such target",
                           .got = concat("'", name, "'"),
                           .expected = "one of: " + valid_names(),
                           .action = "set OPENTRN_TARGET to one of them or unset it"});
}

}  // namespace opentrn::neuroncore
