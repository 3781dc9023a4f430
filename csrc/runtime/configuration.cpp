#include "runtime/configuration.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "base/environment.h"
#include "base/error.h"

namespace opentrn::runtime {
namespace {

std::atomic<bool> initialized{false};
std::atomic<bool> forked{false};

void mark_child() {
  if (initialized.load()) forked.store(true);
}

int parse_device_count(const std::string& text) {
  char* end = nullptr;
  const long count = std::strtol(text.c_str(), &end, 10);
  const bool whole = !text.empty() && *end == '\0';
  return whole && count >= 1 && count <= kMostDevices ? static_cast<int>(count) : 0;
}

Configuration read_configuration() {
  Configuration result;
  result.engine = &engines::engine(environment("OPENTRN_ENGINE").value_or(std::string(engines::engines()[0].name)));
  result.machine =
      &neuroncore::machine(environment("OPENTRN_TARGET").value_or(std::string(neuroncore::machines()[0].name)));
  result.device_count = device_count();
  if (result.device_count == 0) {
    raise(ErrorKind::Value, {.where = "OPENTRN_DEVICES",
                             .what = "the number of devices is not usable",
                             .got = environment("OPENTRN_DEVICES").value_or(""),
                             .expected = concat("a whole number from 1 to ", kMostDevices),
                             .action = "set it so or unset it"});
  }
  return result;
}

}  // namespace

int device_count() noexcept {
  try {
    return parse_device_count(environment("OPENTRN_DEVICES").value_or("1"));
  } catch (...) {
    return 0;
  }
}

const Configuration& configuration() {
  static std::mutex mutex;
  static Configuration current;
  if (initialized.load(std::memory_order_acquire)) {
    check_not_forked();
    return current;
  }
  const std::lock_guard lock(mutex);
  if (!initialized.load()) {
    current = read_configuration();
    pthread_atfork(nullptr, nullptr, mark_child);
    initialized.store(true, std::memory_order_release);
  }
  return current;
}

bool is_initialized() noexcept { return initialized.load(); }

bool in_bad_fork() noexcept { return forked.load(std::memory_order_relaxed); }

void check_not_forked() {
  if (!in_bad_fork()) return;
  raise(ErrorKind::Runtime,
        {.where = "neuron",
         .what = "Cannot re-initialize the device in a forked subprocess",
         .got = "a child process forked after its parent used the device",
         .expected = "a process that starts on its own",
         .action = "use the 'spawn' start method: torch.multiprocessing.set_start_method('spawn')"});
}

void check_device(int device, std::string_view operator_name) {
  const int count = configuration().device_count;
  if (device >= 0 && device < count) return;
  raise(ErrorKind::Runtime,
        {.where = std::string(operator_name),
         .what = "there is no such device",
         .got = concat("neuron:", device),
         .expected = count == 1 ? "neuron:0, the only one" : concat("neuron:0 to neuron:", count - 1),
         .action = "name an existing device, or set OPENTRN_DEVICES to show more logical cores"});
}

}  // namespace opentrn::runtime
