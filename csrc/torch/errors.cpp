#include "torch/errors.h"

#include <c10/util/Exception.h>
#include <pybind11/pybind11.h>
#include <torch/csrc/Exceptions.h>

#include <thread>

#include "base/thread_pool.h"

namespace opentrn::torch_backend {
namespace {

std::thread::id main_thread;

/// Python handles signals on its main thread only. The exception of the handler (KeyboardInterrupt) travels as
/// python_error.
void check_signals() {
  if (std::this_thread::get_id() != main_thread || !Py_IsInitialized()) return;
  const pybind11::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() == 0) return;
  python_error error;
  error.persist();
  throw error;
}

/// opentrn.InternalError, a subclass of RuntimeError; null before Python has it.
PyObject* internal_error = nullptr;

[[noreturn]] void throw_internal_error(const std::string& message) {
  const std::string text = "internal error of OpenTrn, please report it with what is named here: " + message;
  if (internal_error == nullptr || !Py_IsInitialized()) C10_THROW_ERROR(Error, text);
  const pybind11::gil_scoped_acquire gil;
  PyErr_SetString(internal_error, text.c_str());
  python_error error;
  error.persist();
  throw error;
}

}  // namespace

void set_internal_error(PyObject* type) noexcept { internal_error = type; }

void throw_as_torch_error(const Error& error) {
  const std::string message = error.what();
  switch (error.kind()) {
    case ErrorKind::Runtime: C10_THROW_ERROR(Error, message);
    case ErrorKind::Type: C10_THROW_ERROR(TypeError, message);
    case ErrorKind::Value: C10_THROW_ERROR(ValueError, message);
    case ErrorKind::Index: C10_THROW_ERROR(IndexError, message);
    case ErrorKind::NotImplemented: C10_THROW_ERROR(NotImplementedError, message);
    case ErrorKind::OutOfMemory: C10_THROW_ERROR(OutOfMemoryError, message);
    case ErrorKind::Interrupted: C10_THROW_ERROR(Error, message);
    case ErrorKind::Internal: throw_internal_error(message);
  }
  __builtin_unreachable();
}

void warn(const std::string& message) {
  const pybind11::gil_scoped_acquire gil;
  const auto category = pybind11::module_::import("opentrn._warning").attr("OpenTrnWarning");
  if (PyErr_WarnEx(category.ptr(), message.c_str(), 1) == 0) return;
  python_error error;
  error.persist();
  throw error;
}

void install_interrupt_check() {
  main_thread = std::this_thread::get_id();
  set_interrupt_check(check_signals);
}

}  // namespace opentrn::torch_backend
