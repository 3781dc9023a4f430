#include "engines/engine.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"
#include "engines/core/core.h"
#include "engines/reference/program.h"

namespace opentrn::engines {

namespace {

constexpr std::array<Engine, 2> kEngines{{
    {"core", "NeuronCore programs, executed by the emulator", core::compile},
    {"reference", "plain interpreter of the IR, the oracle for all other engines", reference::compile},
}};

std::string valid_names() {
  std::string names;
  for (const Engine& engine : kEngines) {
    if (!names.empty()) names += ", ";
    names += engine.name;
  }
  return names;
}

}  // namespace

std::span<const Engine> engines() { return kEngines; }

const Engine& engine(std::string_view name) {
  const auto found =
      std::find_if(kEngines.begin(), kEngines.end(), [&](const Engine& engine) { return engine.name == name; });
  if (found != kEngines.end()) return *found;
  raise(ErrorKind::Value, {.where = "OPENTRN_ENGINE",
                           .what = "no such engine",
                           .got = concat("'", name, "'"),
                           .expected = "one of: " + valid_names(),
                           .action = "set OPENTRN_ENGINE to one of them or unset it"});
}

}  // namespace opentrn::engines
