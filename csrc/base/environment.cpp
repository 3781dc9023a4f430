#include "base/environment.h"

#include <array>
#include <cstdlib>

#include "base/error.h"

namespace opentrn {

namespace {

constexpr std::array<EnvironmentVariable, 9> kTable{{
    {"OPENTRN_ENGINE", "core, reference", "core", "The engine that compiles and runs graphs."},
    {"OPENTRN_TARGET", "trn1, trn2, trn3", "trn2", "The chip a device stands for."},
    {"OPENTRN_NUM_THREADS", "1 to 1024", "the number of cores", "Host threads one operator may use."},
    {"OPENTRN_INSTRUCTION_SET", "baseline, avx2, avx512, avx512bf16; portable on other processors than x86",
     "the fastest the machine has", "The host's instruction set that the emulator's kernels use."},
    {"OPENTRN_FALLBACK", "warn, error, silent", "warn",
     "What happens when an operator has no lowering and runs on the CPU: a warning once per operator and line, an "
     "error, or nothing. It is counted in any case."},
    {"OPENTRN_REPORT", "a path", "no report", "Where a process writes its report.json when it ends."},
    {"OPENTRN_DUMP", "a folder", "nothing is written",
     "Where the graph (StableHLO) and the NeuronCore program of everything that is compiled are written."},
    {"OPENTRN_DEVICES", "1 to 64", "1", "Logical cores shown as neuron:0, neuron:1, ..."},
    {"OPENTRN_LOG", "error, warning, info, debug", "warning",
     "What is logged to the standard error output. debug names every program that is compiled."},
}};

}  // namespace

std::span<const EnvironmentVariable> environment_table() { return kTable; }

std::optional<std::string> environment(std::string_view name) {
  for (const EnvironmentVariable& row : kTable) {
    if (row.name != name) continue;
    const char* value = std::getenv(row.name.data());  // a literal, hence terminated
    if (value == nullptr) return std::nullopt;
    return value;
  }
  raise(ErrorKind::Internal, {.where = "environment",
                              .what = "not in the table of environment variables",
                              .got = std::string(name),
                              .action = "add a row in base/environment.cpp"});
}

}  // namespace opentrn
