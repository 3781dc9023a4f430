#include "runtime/counters.h"

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>

namespace opentrn::runtime {
namespace {

using FallbackKey = std::tuple<std::string, std::string, std::string>;
using SynchronisationKey = std::pair<std::string, std::string>;

/// Everything but the operator counters; guarded by one mutex because all of it is rare.
struct Tables {
  std::mutex mutex;
  std::deque<OperatorCounter> operators;
  std::unordered_map<std::string, OperatorCounter*> operator_by_name;
  std::map<FallbackKey, FallbackRecord> fallbacks;
  std::map<SynchronisationKey, SynchronisationRecord> synchronisations;
  std::map<FallbackKey, int64_t> notes;  // programs by operator, kind and what
  TransferTotals transfers[2];
  int64_t programs_compiled = 0, compile_nanoseconds = 0;
};

Tables& tables() {
  static auto* const instance = new Tables;  // used by threads that outlive static destruction
  return *instance;
}

std::atomic<bool> timing_on{false};

}  // namespace

int64_t now_nanoseconds() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

OperatorCounter& operator_counter(const std::string& name) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  auto& slot = all.operator_by_name[name];
  if (slot == nullptr) {
    slot = &all.operators.emplace_back();
    slot->name = name;
  }
  return *slot;
}

void count_transfer(Direction direction, int64_t bytes, int64_t nanoseconds) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  TransferTotals& totals = all.transfers[static_cast<int>(direction)];
  totals.bytes += bytes;
  totals.count += 1;
  totals.nanoseconds += nanoseconds;
}

void count_synchronisation(const std::string& line, const std::string& kind, int64_t nanoseconds) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  SynchronisationRecord& record = all.synchronisations[{line, kind}];
  record.line = line;
  record.kind = kind;
  record.count += 1;
  record.nanoseconds += nanoseconds;
}

bool count_fallback(const FallbackRecord& call) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  FallbackRecord& record = all.fallbacks[{call.operator_name, call.reason, call.line}];
  const bool first = record.calls == 0;
  if (first) record = FallbackRecord{call.operator_name, call.reason, call.line};
  record.calls += 1;
  record.bytes_to_host += call.bytes_to_host;
  record.bytes_to_device += call.bytes_to_device;
  record.nanoseconds += call.nanoseconds;
  return first;
}

void count_compile(int64_t nanoseconds) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  all.programs_compiled += 1;
  all.compile_nanoseconds += nanoseconds;
}

void count_note(const std::string& operator_name, const std::string& kind, const std::string& what) {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  ++all.notes[{operator_name, kind, what}];
}

Statistics statistics() {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  Statistics result;
  int64_t calls = 0;
  for (const OperatorCounter& counter : all.operators) {
    if (counter.calls == 0) continue;
    result.operators.push_back({counter.name, counter.calls, counter.engine_nanoseconds});
    calls += counter.calls;
  }
  for (const auto& [key, record] : all.fallbacks) result.fallbacks.push_back(record);
  for (const auto& [key, record] : all.synchronisations) result.synchronisations.push_back(record);
  for (const auto& [key, programs] : all.notes) {
    result.notes.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), programs});
  }
  result.host_to_device = all.transfers[static_cast<int>(Direction::HostToDevice)];
  result.device_to_host = all.transfers[static_cast<int>(Direction::DeviceToHost)];
  result.programs_compiled = all.programs_compiled;
  result.compile_nanoseconds = all.compile_nanoseconds;
  // Every call of a lowered operator either compiled its program or found it.
  result.cache_hits = calls - all.programs_compiled;
  return result;
}

void clear_statistics() {
  Tables& all = tables();
  const std::lock_guard lock(all.mutex);
  for (OperatorCounter& counter : all.operators) {
    counter.calls = 0;
    counter.engine_nanoseconds = 0;
  }
  all.fallbacks.clear();
  all.synchronisations.clear();
  all.notes.clear();
  all.transfers[0] = all.transfers[1] = {};
  all.programs_compiled = 0;
  all.compile_nanoseconds = 0;
}

bool timing() noexcept { return timing_on.load(std::memory_order_relaxed); }
void set_timing(bool on) noexcept { timing_on.store(on, std::memory_order_relaxed); }

}  // namespace opentrn::runtime
