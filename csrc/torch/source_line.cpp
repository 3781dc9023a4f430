#include "torch/source_line.h"

#include <Python.h>
#include <frameobject.h>
#include <pybind11/pybind11.h>

#include <string_view>

namespace opentrn::torch_backend {
namespace {

std::string_view file_of(PyCodeObject* code) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(code->co_filename, &size);
  if (text == nullptr) {
    PyErr_Clear();
    return {};
  }
  return {text, static_cast<size_t>(size)};
}

bool is_library(std::string_view file) {
  for (const std::string_view part : {"/site-packages/", "/dist-packages/", "/lib/python3", "/opentrn/", "<frozen"}) {
    if (file.find(part) != std::string_view::npos) return true;
  }
  return file.empty();
}

std::string describe(std::string_view file, int line) {
  const size_t slash = file.rfind('/');
  return std::string(slash == std::string_view::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(line);
}

/// Walks from `frame` (a new reference, may be null) outwards.
std::string line_from(PyFrameObject* frame) {
  std::string innermost;
  std::string found;
  while (frame != nullptr && found.empty()) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const std::string_view file = file_of(code);
    if (innermost.empty()) innermost = describe(file, PyFrame_GetLineNumber(frame));
    if (!is_library(file)) found = describe(file, PyFrame_GetLineNumber(frame));
    Py_DECREF(code);
    PyFrameObject* outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  Py_XDECREF(frame);
  return found.empty() ? innermost : found;
}

PyFrameObject* main_thread_frame() {
  PyThreadState* oldest = nullptr;
  PyThreadState* state = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
  for (; state != nullptr; state = PyThreadState_Next(state)) oldest = state;
  return oldest == nullptr ? nullptr : PyThreadState_GetFrame(oldest);
}

}  // namespace

std::string user_line() {
  if (!Py_IsInitialized()) return "(no Python)";
  const pybind11::gil_scoped_acquire gil;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  if (frame == nullptr) frame = main_thread_frame();
  const std::string line = line_from(frame);
  return line.empty() ? "(no Python frame)" : line;
}

}  // namespace opentrn::torch_backend
