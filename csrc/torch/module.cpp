// opentrn._C: what Python sees of the backend beside torch's own interfaces. Importing it registers the device.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/version.h>

#include "base/environment.h"
#include "engines/core/coverage.h"
#include "engines/engine.h"
#include "engines/run_text.h"
#include "ir/text.h"
#include "neuroncore/opcode.h"
#include "neuroncore/text.h"
#include "runtime/allocator.h"
#include "runtime/configuration.h"
#include "runtime/counters.h"
#include "runtime/self_test.h"
#include "runtime/stream.h"
#include "torch/dispatcher.h"
#include "torch/errors.h"
#include "torch/fallback.h"
#include "torch/generator.h"
#include "torch/shutdown.h"
#include "torch/source_line.h"

namespace py = pybind11;

namespace opentrn::torch_backend {
namespace {

double milliseconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

py::dict transfer_dict(const runtime::TransferTotals& totals) {
  return py::dict(py::arg("bytes") = totals.bytes, py::arg("count") = totals.count,
                  py::arg("milliseconds") = milliseconds(totals.nanoseconds));
}

py::list operator_list(const runtime::Statistics& statistics) {
  py::list list;
  for (const auto& entry : statistics.operators) {
    list.append(py::dict(py::arg("name") = entry.name, py::arg("calls") = entry.calls,
                         py::arg("engine_ms") = milliseconds(entry.engine_nanoseconds)));
  }
  return list;
}

py::list fallback_list(const runtime::Statistics& statistics) {
  py::list list;
  for (const auto& entry : statistics.fallbacks) {
    list.append(py::dict(
        py::arg("operator") = entry.operator_name, py::arg("reason") = entry.reason, py::arg("line") = entry.line,
        py::arg("calls") = entry.calls, py::arg("bytes_to_host") = entry.bytes_to_host,
        py::arg("bytes_to_device") = entry.bytes_to_device, py::arg("milliseconds") = milliseconds(entry.nanoseconds)));
  }
  return list;
}

py::list synchronisation_list(const runtime::Statistics& statistics) {
  py::list list;
  for (const auto& entry : statistics.synchronisations) {
    list.append(py::dict(py::arg("line") = entry.line, py::arg("kind") = entry.kind, py::arg("count") = entry.count,
                         py::arg("milliseconds") = milliseconds(entry.nanoseconds)));
  }
  return list;
}

py::dict memory_dict() {
  int64_t peak = 0;
  int64_t allocated = 0;
  int64_t total = 0;
  if (runtime::is_initialized() && !runtime::in_bad_fork()) {
    for (int device = 0; device < runtime::configuration().device_count; ++device) {
      const auto memory = runtime::memory_statistics(device);
      peak += memory.peak_allocated;
      allocated += memory.allocated;
      total += runtime::memory_info(device).second;
    }
  }
  return py::dict(py::arg("peak_allocated") = peak, py::arg("allocated") = allocated, py::arg("total") = total);
}

py::dict time_dict(const runtime::Statistics& statistics) {
  int64_t engine = 0;
  int64_t fallback = 0;
  for (const auto& entry : statistics.operators) engine += entry.engine_nanoseconds;
  for (const auto& entry : statistics.fallbacks) fallback += entry.nanoseconds;
  const int64_t transfer = statistics.host_to_device.nanoseconds + statistics.device_to_host.nanoseconds;
  return py::dict(py::arg("engine") = milliseconds(engine),
                  py::arg("compile") = milliseconds(statistics.compile_nanoseconds),
                  py::arg("transfer") = milliseconds(transfer), py::arg("fallback") = milliseconds(fallback));
}

py::list note_list(const runtime::Statistics& statistics) {
  py::list list;
  for (const runtime::ProgramNote& note : statistics.notes) {
    list.append(py::dict(py::arg("operator") = note.operator_name, py::arg("kind") = note.kind,
                         py::arg("what") = note.what, py::arg("programs") = note.programs));
  }
  return list;
}

py::dict statistics_dict() {
  const runtime::Statistics statistics = runtime::statistics();
  py::dict result;
  result["operators"] = operator_list(statistics);
  result["fallbacks"] = fallback_list(statistics);
  result["synchronisations"] = synchronisation_list(statistics);
  result["notes"] = note_list(statistics);
  result["transfers"] = py::dict(py::arg("host_to_device") = transfer_dict(statistics.host_to_device),
                                 py::arg("device_to_host") = transfer_dict(statistics.device_to_host));
  result["programs"] =
      py::dict(py::arg("compiled") = statistics.programs_compiled, py::arg("cache_hits") = statistics.cache_hits,
               py::arg("milliseconds") = milliseconds(statistics.compile_nanoseconds));
  result["memory"] = memory_dict();
  result["milliseconds"] = time_dict(statistics);
  return result;
}

void put_stat(py::dict& result, const std::string& key, int64_t current, int64_t peak, int64_t allocated,
              int64_t freed) {
  result[py::str(key + ".all.current")] = current;
  result[py::str(key + ".all.peak")] = peak;
  result[py::str(key + ".all.allocated")] = allocated;
  result[py::str(key + ".all.freed")] = freed;
}

py::dict memory_stats(int device) {
  runtime::check_device(device, "memory_stats");
  const runtime::MemoryStatistics memory = runtime::memory_statistics(device);
  py::dict result;
  put_stat(result, "allocated_bytes", memory.allocated, memory.peak_allocated, memory.total_allocated,
           memory.total_freed);
  put_stat(result, "active_bytes", memory.allocated, memory.peak_allocated, memory.total_allocated, memory.total_freed);
  result["reserved_bytes.all.current"] = memory.reserved;
  result["reserved_bytes.all.peak"] = memory.peak_reserved;
  result["allocation.all.allocated"] = memory.allocations;
  result["allocation.all.freed"] = memory.frees;
  result["allocation.all.current"] = memory.live_blocks;
  result["num_ooms"] = memory.out_of_memory_errors;
  return result;
}

py::dict device_properties(int device) {
  runtime::check_device(device, "get_device_properties");
  const neuroncore::Machine& machine = *runtime::configuration().machine;
  py::dict result;
  result["name"] = concat(machine.core_name, " (", machine.name, ", LNC=", machine.logical_core_configuration, ")");
  result["target"] = std::string(machine.name);
  result["total_memory"] = machine.hbm_bytes_per_logical_core();
  result["physical_cores"] = machine.logical_core_configuration;
  result["logical_cores_per_chip"] = machine.logical_cores_per_chip();
  return result;
}

py::list environment_list() {
  py::list list;
  for (const EnvironmentVariable& variable : environment_table()) {
    list.append(py::dict(py::arg("name") = std::string(variable.name), py::arg("values") = std::string(variable.values),
                         py::arg("default") = std::string(variable.initial),
                         py::arg("description") = std::string(variable.effect)));
  }
  return list;
}

py::list lowering_list() {
  py::list list;
  for (const lowering::Rule& rule : lowering::rules()) {
    py::list overloads;
    for (const auto& [name, overload] : registered_overloads()) {
      if (name == rule.name) overloads.append(overload);
    }
    list.append(py::dict(py::arg("name") = std::string(rule.name), py::arg("overloads") = overloads,
                         py::arg("note") = std::string(rule.note)));
  }
  return list;
}

py::list instruction_list() {
  py::list list;
  for (const neuroncore::OpcodeInfo& row : neuroncore::opcodes()) {
    list.append(py::dict(py::arg("name") = std::string(row.name), py::arg("engines") = std::string(row.engines),
                         py::arg("operands") = std::string(row.operands), py::arg("meaning") = std::string(row.meaning),
                         py::arg("limits") = std::string(row.limits), py::arg("cost") = std::string(row.cost)));
  }
  return list;
}

py::list coverage_list(const std::string& target) {
  const auto names = [](const std::vector<DType>& dtypes) {
    py::list list;
    for (const DType dtype : dtypes) list.append(std::string(info(dtype).torch_name));
    return list;
  };
  py::list list;
  for (const engines::core::CoverageRow& row : engines::core::coverage(neuroncore::machine(target))) {
    list.append(py::dict(py::arg("primitive") = std::string(row.primitive), py::arg("tiles") = names(row.tiles),
                         py::arg("library") = names(row.library), py::arg("no_native_unit") = names(row.no_unit),
                         py::arg("note") = std::string(row.note)));
  }
  return list;
}

// Every module of a file of StableHLO text; an empty name stands for the engine of the process.
py::list run_stablehlo(const std::string& text, const std::string& engine_name, std::optional<int64_t> size,
                       std::optional<double> fill, bool show) {
  std::vector<engines::RunReport> reports;
  {
    const py::gil_scoped_release release;
    const runtime::Configuration& configuration = runtime::configuration();
    const engines::Engine& engine = engine_name.empty() ? *configuration.engine : engines::engine(engine_name);
    for (const std::string& module : ir::split_modules(text)) {
      reports.push_back(engines::run_text(module, engine, *configuration.machine, {size, fill, show}));
    }
  }
  py::list list;
  for (const engines::RunReport& report : reports) {
    list.append(py::dict(py::arg("name") = report.name, py::arg("checks") = report.checks,
                         py::arg("results") = report.results, py::arg("text") = report.text,
                         py::arg("program") = report.program));
  }
  return list;
}

std::optional<std::string> set_override(const std::optional<std::string>& mode) {
  const std::string previous = set_fallback_override(mode.value_or(""));
  return previous.empty() ? std::nullopt : std::optional(previous);
}

void register_errors(py::module_& m) {
  // Lives as long as the process.
  auto* const internal = PyErr_NewExceptionWithDoc(
      "opentrn.InternalError", "A fault of OpenTrn itself, never of its user.", PyExc_RuntimeError, nullptr);
  set_internal_error(internal);
  m.attr("InternalError") = py::reinterpret_borrow<py::object>(internal);
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const Error& error) {
      switch (error.kind()) {
        case ErrorKind::Type: PyErr_SetString(PyExc_TypeError, error.what()); break;
        case ErrorKind::Value: PyErr_SetString(PyExc_ValueError, error.what()); break;
        case ErrorKind::Index: PyErr_SetString(PyExc_IndexError, error.what()); break;
        case ErrorKind::NotImplemented: PyErr_SetString(PyExc_NotImplementedError, error.what()); break;
        default: PyErr_SetString(PyExc_RuntimeError, error.what()); break;
      }
    }
  });
}

void define_device(py::module_& m) {
  m.def("device_count", [] { return runtime::device_count(); });
  m.def("current_device", [] { return runtime::current_device(); });
  m.def("exchange_device", [](int device) {
    if (device < 0) return runtime::current_device();
    runtime::check_device(device, "set_device");
    return runtime::exchange_device(device);
  });
  m.def("set_device", [](int device) {
    runtime::check_device(device, "set_device");
    runtime::exchange_device(device);
  });
  m.def("initialize", [] { runtime::configuration(); });
  m.def("is_initialized", [] { return runtime::is_initialized() && !runtime::in_bad_fork(); });
  m.def("in_bad_fork", [] { return runtime::in_bad_fork(); });
  m.def("device_properties", device_properties);
  m.def("synchronize", [](int device) {
    runtime::check_device(device, "synchronize");
    runtime::count_synchronisation(user_line(), "synchronize", 0);
  });
  m.def("end_autograd_threads", end_autograd_threads, py::call_guard<py::gil_scoped_release>());
  m.def("engine_name", [] { return std::string(runtime::configuration().engine->name); });
  m.def("target_name", [] { return std::string(runtime::configuration().machine->name); });
  m.def("default_generator", [](int device) {
    // torch.manual_seed asks for it in programs that never use the device: it must not initialise anything.
    const bool exists = device >= 0 && device < runtime::device_count();
    if (!exists) runtime::check_device(device, "default_generator");
    return default_generator(static_cast<c10::DeviceIndex>(device));
  });
}

void define_memory(py::module_& m) {
  m.def("memory_stats", memory_stats);
  m.def("memory_info", [](int device) {
    runtime::check_device(device, "mem_get_info");
    return runtime::memory_info(device);
  });
  m.def("empty_cache", [] { runtime::empty_cache(); });
  m.def("reset_peak_memory_stats", [](int device) {
    runtime::check_device(device, "reset_peak_memory_stats");
    runtime::reset_peak_memory(device);
  });
  m.def("reset_accumulated_memory_stats", [](int device) {
    runtime::check_device(device, "reset_accumulated_memory_stats");
    runtime::reset_accumulated_memory(device);
  });
}

void define_reports(py::module_& m) {
  m.def("fallback_mode", [] { return std::string(name(fallback_mode())); });
  m.def("set_fallback_override", set_override, py::arg("mode").none(true));
  m.def("set_timing", [](bool on) { runtime::set_timing(on); });
  m.def("statistics", statistics_dict);
  m.def("clear_statistics", [] { runtime::clear_statistics(); });
  m.def("environment_table", environment_list);
  m.def("lowering_table", lowering_list);
  m.def("instruction_table", instruction_list);
  m.def("instruction_table_markdown", [] { return neuroncore::instruction_table_markdown(); });
  m.def("coverage_table", coverage_list, py::arg("target"));
  m.def("run_stablehlo", run_stablehlo, py::arg("text"), py::arg("engine") = "", py::arg("size") = py::none(),
        py::arg("fill") = py::none(), py::arg("show") = false);
  m.def("engine_self_test", [] { runtime::engine_self_test(); });
  // For the tests of what a fault of ours looks like.
  m.def("_raise_internal_error",
        [](const std::string& text) { throw_as_torch_error(Error(ErrorKind::Internal, text)); });
  m.def("cpu_features", [] { return runtime::cpu_features(); });
  m.def("_set_engine_paused", [](bool paused) { set_engine_paused(paused); });
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  m.attr("torch_version") = TORCH_VERSION;
  register_errors(m);
  install_interrupt_check();
  register_lowerings();
  define_device(m);
  define_memory(m);
  define_reports(m);
}

}  // namespace opentrn::torch_backend
