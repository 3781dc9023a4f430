// Errors: one exception class whose kind becomes a Python exception class at the boundary.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace opentrn {

enum class ErrorKind {
  Runtime,         // RuntimeError: what CPU PyTorch raises for most bad input
  Type,            // TypeError
  Value,           // ValueError
  Index,           // IndexError
  NotImplemented,  // NotImplementedError
  OutOfMemory,     // torch.OutOfMemoryError
  Interrupted,     // KeyboardInterrupt: work was stopped half-way at the user's wish
  Internal,        // a fault of OpenTrn itself, never of the user
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// What an error tells its reader. Printed as "[where] what, got ..., expected ..., action"; empty parts are left out.
struct Complaint {
  std::string where = {};
  std::string what = {};
  std::string got = {};
  std::string expected = {};
  std::string action = {};
};

std::string to_string(const Complaint& complaint);

[[noreturn]] void raise(ErrorKind kind, const Complaint& complaint);

/// Joins its arguments into one string through operator<<.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace opentrn
