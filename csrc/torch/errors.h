// From our errors to the exceptions CPU PyTorch raises.
#pragma once

#include <Python.h>

#include <utility>

#include "base/error.h"

namespace opentrn::torch_backend {

/// Throws the c10 exception whose Python class is the one the error's kind stands for.
[[noreturn]] void throw_as_torch_error(const Error& error);

/// Calls `function` and translates the errors it throws.
template <typename Function>
decltype(auto) translate_errors(Function&& function) {
  try {
    return std::forward<Function>(function)();
  } catch (const Error& error) {
    throw_as_torch_error(error);
  }
}

/// The Python class that faults of OpenTrn itself are raised as.
void set_internal_error(PyObject* type) noexcept;

/// Issues opentrn's OpenTrnWarning. Throws when the user has turned warnings into errors.
void warn(const std::string& message);

/// Makes long engine work answer Ctrl-C: the engine asks now and then whether Python has a signal to handle.
void install_interrupt_check();

}  // namespace opentrn::torch_backend
