// Writes what was compiled to files, for people who want to read it.
#pragma once

#include <string>
#include <string_view>

namespace opentrn::runtime {

/// Writes `<number>-<operator>.mlir` (the graph) and, for engines that have programs, `<number>-<operator>.program`
/// into the folder, which is made when it is missing. Numbers count the programs of the process. Raises an Error of
/// kind Value when a file cannot be written.
void dump(const std::string& folder, std::string_view operator_name, const std::string& graph,
          const std::string& program);

}  // namespace opentrn::runtime
