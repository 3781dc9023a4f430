#include "base/log.h"

#include <array>
#include <cstdio>

#include "base/environment.h"

namespace opentrn {

namespace {

constexpr std::array<std::string_view, 4> kLevels{"error", "warning", "info", "debug"};

// An unknown word must not take the program down in the middle of logging: it counts as the default.
LogLevel threshold() {
  const std::optional<std::string> setting = environment("OPENTRN_LOG");
  for (size_t i = 0; setting && i < kLevels.size(); ++i) {
    if (*setting == kLevels[i]) return static_cast<LogLevel>(i);
  }
  return LogLevel::Warning;
}

}  // namespace

bool logs(LogLevel level) { return level <= threshold(); }

void log_line(LogLevel level, std::string_view text) {
  if (!logs(level)) return;
  const std::string line = concat("opentrn ", kLevels[static_cast<size_t>(level)], ": ", text, "\n");
  std::fwrite(line.data(), 1, line.size(), stderr);  // one call, so that lines of several threads do not mix
}

}  // namespace opentrn
