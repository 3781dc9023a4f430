// Log lines on the standard error output, by level.
#pragma once

#include <string_view>

#include "base/error.h"

namespace opentrn {

enum class LogLevel { Error, Warning, Info, Debug };

/// True when OPENTRN_LOG asks for this level. Ask first where making the text is expensive.
bool logs(LogLevel level);

/// Writes one line when the level is asked for.
void log_line(LogLevel level, std::string_view text);

/// Joins its arguments into one line.
template <typename... Parts>
void log(LogLevel level, const Parts&... parts) {
  if (logs(level)) log_line(level, concat(parts...));
}

}  // namespace opentrn
