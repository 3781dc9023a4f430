#include "runtime/dump.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace opentrn::runtime {

namespace {

std::string file_name(int number, std::string_view operator_name) {
  std::string digits = std::to_string(number);
  digits.insert(0, digits.size() < 4 ? 4 - digits.size() : 0, '0');
  std::string name(operator_name);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '_'; }, '_');
  return digits + "-" + name;
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (file) return;
  raise(ErrorKind::Value, {.where = "OPENTRN_DUMP",
                           .what = "a file cannot be written",
                           .got = path.string(),
                           .action = "name a folder that can be written to"});
}

}  // namespace

void dump(const std::string& folder, std::string_view operator_name, const std::string& graph,
          const std::string& program) {
  static std::atomic<int> count{0};
  std::error_code ignored;  // shows as a file that cannot be written
  std::filesystem::create_directories(folder, ignored);
  const std::filesystem::path path = std::filesystem::path(folder) / file_name(++count, operator_name);
  write(path.string() + ".mlir", graph);
  if (!program.empty()) write(path.string() + ".program", program);
}

}  // namespace opentrn::runtime
