// The environment variables, in one table. The documentation is generated from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace opentrn {

struct EnvironmentVariable {
  std::string_view name;
  std::string_view values;
  std::string_view initial;  // what an unset variable means
  std::string_view effect;
};

std::span<const EnvironmentVariable> environment_table();

/// The value of a variable now, or nothing when it is unset. `name` must be in the table.
std::optional<std::string> environment(std::string_view name);

}  // namespace opentrn
