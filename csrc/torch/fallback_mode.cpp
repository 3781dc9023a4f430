#include <mutex>

#include "base/environment.h"
#include "base/error.h"
#include "torch/fallback.h"

namespace opentrn::torch_backend {
namespace {

FallbackMode parse(const std::string& text) {
  for (const FallbackMode mode : {FallbackMode::Warn, FallbackMode::Error, FallbackMode::Silent}) {
    if (text == name(mode)) return mode;
  }
  raise(ErrorKind::Value, {.where = "OPENTRN_FALLBACK",
                           .what = "there is no such fallback mode",
                           .got = "'" + text + "'",
                           .expected = "warn, error or silent",
                           .action = "choose one of them"});
}

std::mutex mutex;
std::string override_mode;

}  // namespace

const char* name(FallbackMode mode) noexcept {
  switch (mode) {
    case FallbackMode::Warn: return "warn";
    case FallbackMode::Error: return "error";
    case FallbackMode::Silent: return "silent";
  }
  return "warn";
}

FallbackMode fallback_mode() {
  const std::lock_guard lock(mutex);
  if (!override_mode.empty()) return parse(override_mode);
  return parse(environment("OPENTRN_FALLBACK").value_or("warn"));
}

std::string set_fallback_override(const std::string& mode) {
  if (!mode.empty()) parse(mode);
  const std::lock_guard lock(mutex);
  std::string previous = override_mode;
  override_mode = mode;
  return previous;
}

}  // namespace opentrn::torch_backend
