#include "neuroncore/machine.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"

namespace opentrn::neuroncore {

namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kMiB = int64_t{1} << 20;

// Sources of the rows, for all three generations:
// - Cores per chip, HBM size and bandwidth, SBUF, PSUM, clocks: AWS Neuron documentation, "Trainium Architecture",
//   "Trainium2 Architecture", "Trainium3 Architecture" and the NKI architecture guides of the same names.
// - Logical cores: the same documentation, "Logical NeuronCore configuration": 2 by default on trn2 and trn3; trn1 has
//   none.
// - Usable SBUF bytes: the constants of AWS's package nkipy.
// - Clock of Tensor on trn1: 2.8 GHz documented; published matmul timings fit 2.4 GHz (inference: 212.7 ns per 512
//   columns).
// - Fewest cycles: NKI ISA reference of SDK 2.26, MIN_II about 64; Vector on trn1 measured 65.6 (a published depthwise
//   convolution, 65,536 instructions of 3 elements in 3.84 ms).
// - Start-up: Vector, 140 cycles measured (tensor_tensor of 512 float32: 670 ns, of which 533 stream) and 144 in AWS's
//   top-k cost model; Scalar, 264 cycles between dependent activations on trn1 and about 350 on trn2, measured; GpSimd,
//   150 cycles, NKI ISA reference; Tensor, 64, NKI architecture guide.
// - Performance modes: Trainium2 and Trainium3 architecture guides: 512 of 128 lanes' elements a cycle in 16 bit on
//   Vector; Scalar 256 in 8 or 16 bit on trn3.
// - float32 matmul in 4 passes: 859 ns per 128x128x512 tile, measured in AWS's matmul tutorial.
// - Activation table load: 1.3 us, measured in AWS's profiles.
// - DMA engines and their achievable rate: NKI architecture guides (17, 23, 33 bytes per ns); start: "about 1,300 ns
//   across engines", the same; a piece: 22.6 ns beside its bytes, fitted to two published loads of 128 rows (259 GB/s
//   of 1 KiB, 354 GB/s of 4 KiB).
// - Adding DMA: half the copy rate before trn3, Trainium3 architecture guide.
constexpr std::array<Machine, 3> kMachines{{
    {.name = "trn2",
     .core_name = "NeuronCore-v3",
     .physical_cores_per_chip = 8,
     .logical_core_configuration = 2,
     .hbm_bytes_per_chip = 96 * kGiB,
     .hbm_bytes_per_second = 2.9e12,
     .nki_generation = 3,
     .partitions = 128,
     .sbuf_bytes = 28 * kMiB,
     .sbuf_bytes_per_partition = 212984,
     .psum_banks = 8,
     .psum_bank_bytes = kPsumBankBytes,
     .stationary_free_size = 128,
     .moving_free_size = 512,
     .moving_free_size_bf16 = 0,
     .matmul_crosses_banks = false,
     .clock_hz = {2.4e9, 0.96e9, 1.2e9, 1.2e9, 1.2e9},  // Sync's is not published: Scalar's
     .least_cycles = {64, 64, 64, 64, 64},
     .start_up_cycles = {64, 140, 350, 150, 64},
     .vector_elements_per_cycle_16bit = 4,
     .scalar_elements_per_cycle_16bit = 1,
     .matmul_passes_f32 = 4,
     .activation_table_load_seconds = 1.3e-6,
     .dma_engines = 16,
     .dma_engine_bytes_per_second = 23e9,
     .dma_start_seconds = 1.3e-6,
     .dma_element_seconds = 22.6e-9,
     .dma_read_modify_write_rate = 0.5},
    {.name = "trn1",
     .core_name = "NeuronCore-v2",
     .physical_cores_per_chip = 2,
     .logical_core_configuration = 1,
     .hbm_bytes_per_chip = 32 * kGiB,
     .hbm_bytes_per_second = 820e9,
     .nki_generation = 2,
     .partitions = 128,
     .sbuf_bytes = 24 * kMiB,
     .sbuf_bytes_per_partition = 180224,
     .psum_banks = 8,
     .psum_bank_bytes = kPsumBankBytes,
     .stationary_free_size = 128,
     .moving_free_size = 512,
     .moving_free_size_bf16 = 0,
     .matmul_crosses_banks = false,
     .clock_hz = {2.4e9, 1.12e9, 1.4e9, 1.4e9, 1.4e9},
     .least_cycles = {64, 65, 64, 64, 64},
     .start_up_cycles = {64, 140, 264, 150, 64},
     .vector_elements_per_cycle_16bit = 1,
     .scalar_elements_per_cycle_16bit = 1,
     .matmul_passes_f32 = 4,
     .activation_table_load_seconds = 1.3e-6,
     .dma_engines = 16,
     .dma_engine_bytes_per_second = 17e9,
     .dma_start_seconds = 1.3e-6,
     .dma_element_seconds = 22.6e-9,
     .dma_read_modify_write_rate = 0.5},
    {.name = "trn3",
     .core_name = "NeuronCore-v4",
     .physical_cores_per_chip = 8,
     .logical_core_configuration = 2,
     .hbm_bytes_per_chip = 144 * kGiB,
     .hbm_bytes_per_second = 4.9e12,
     .nki_generation = 4,
     .partitions = 128,
     .sbuf_bytes = 32 * kMiB,
     .sbuf_bytes_per_partition = 245752,
     .psum_banks = 8,
     .psum_bank_bytes = kPsumBankBytes,
     .stationary_free_size = 128,
     .moving_free_size = 4096,
     .moving_free_size_bf16 = 8192,
     .matmul_crosses_banks = true,
     .clock_hz = {2.4e9, 1.2e9, 1.2e9, 1.2e9, 1.2e9},
     .least_cycles = {64, 64, 64, 64, 64},
     .start_up_cycles = {64, 140, 350, 150, 64},
     .vector_elements_per_cycle_16bit = 4,
     .scalar_elements_per_cycle_16bit = 2,
     .matmul_passes_f32 = 4,
     .activation_table_load_seconds = 1.3e-6,
     .dma_engines = 16,
     .dma_engine_bytes_per_second = 33e9,
     .dma_start_seconds = 1.3e-6,
     .dma_element_seconds = 16e-9,  // inference: trn2's, scaled by the peak rates 38.4 and 27.2 GB/s
     .dma_read_modify_write_rate = 1.0},
}};

// AWS Neuron documentation, "NKI data types": float8_e4m3 of v2 and v3 is not PyTorch's float8_e4m3fn (largest value
// 240 instead of 448); v4 has both. The generation that has a type first; 0: none has it.
constexpr int native_since(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::U8:
    case DType::I8:
    case DType::U16:
    case DType::I16:
    case DType::U32:
    case DType::I32:
    case DType::F8E5M2:
    case DType::F16:
    case DType::BF16:
    case DType::F32: return 2;
    case DType::F8E4M3FN: return 4;
    default: return 0;
  }
}

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

bool is_native(const Machine& machine, DType dtype) {
  const int since = native_since(dtype);
  return since > 0 && machine.nki_generation >= since;
}

// AWS Neuron documentation, "nki.isa.nc_matmul": there is no integer path. float64 has no unit: it is executed exactly.
bool matmul_takes(const Machine& machine, DType dtype) {
  return dtype == DType::F64 || (is_float(dtype) && is_native(machine, dtype));
}

bool matmul_writes(const Machine& machine, DType dtype) {
  return dtype == DType::F32 || dtype == DType::F64 || (dtype == DType::BF16 && machine.moving_free_size_bf16 > 0);
}

}  // namespace opentrn::neuroncore
