// What happened: the counters behind `opentrn run`'s summary, torch.neuron.fallback_report() and the tests.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace opentrn::runtime {

/// Nanoseconds of a steady clock.
int64_t now_nanoseconds() noexcept;

/// Calls of one operator through its lowering. Lives for the whole process; incremented without locks.
struct OperatorCounter {
  std::string name;
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> engine_nanoseconds{0};  // only counted while timing is on
};

/// The counter of that name, made on first use.
OperatorCounter& operator_counter(const std::string& name);

enum class Direction { HostToDevice, DeviceToHost };

struct FallbackRecord {
  std::string operator_name, reason, line;
  int64_t calls = 0, bytes_to_host = 0, bytes_to_device = 0, nanoseconds = 0;
};
struct SynchronisationRecord {
  std::string line, kind;
  int64_t count = 0, nanoseconds = 0;
};
/// What is worth knowing about the programs of an operator: "library call" or "no native unit".
struct ProgramNote {
  std::string operator_name, kind, what;
  int64_t programs = 0;
};
struct TransferTotals {
  int64_t bytes = 0, count = 0, nanoseconds = 0;
};
struct OperatorTotals {
  std::string name;
  int64_t calls = 0, engine_nanoseconds = 0;
};

struct Statistics {
  std::vector<OperatorTotals> operators;  // only those called since the last clear
  std::vector<FallbackRecord> fallbacks;
  std::vector<SynchronisationRecord> synchronisations;
  std::vector<ProgramNote> notes;
  TransferTotals host_to_device, device_to_host;
  int64_t programs_compiled = 0, cache_hits = 0, compile_nanoseconds = 0;
};

void count_transfer(Direction direction, int64_t bytes, int64_t nanoseconds);
void count_synchronisation(const std::string& line, const std::string& kind, int64_t nanoseconds);
/// Adds one call; returns true when it is the first of its operator and line.
bool count_fallback(const FallbackRecord& call);
void count_compile(int64_t nanoseconds);
void count_note(const std::string& operator_name, const std::string& kind, const std::string& what);

Statistics statistics();
void clear_statistics();

/// Whether engine time is measured per operator; off by default, since reading the clock costs as much as a tiny
/// operator.
bool timing() noexcept;
void set_timing(bool on) noexcept;

}  // namespace opentrn::runtime
