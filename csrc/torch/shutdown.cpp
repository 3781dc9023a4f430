#include "torch/shutdown.h"

#include <torch/csrc/autograd/engine.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

namespace opentrn::torch_backend {

namespace {

// torch gives its threads these names, and the engine counts them as gone before they are.
constexpr std::string_view kThreadName = "pt_autograd";

bool has_autograd_threads() {
  std::error_code unknown;
  std::filesystem::directory_iterator threads("/proc/self/task", unknown);
  if (unknown) return false;
  for (const auto& thread : threads) {
    std::ifstream file(thread.path() / "comm");
    std::string name;
    if (std::getline(file, name) && name.starts_with(kThreadName)) return true;
  }
  return false;
}

}  // namespace

void end_autograd_threads() {
  torch::autograd::Engine::get_default_engine().stop();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (has_autograd_threads() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace opentrn::torch_backend
