// Buffers: extents, capacity, addresses.
#include <array>

#include "neuroncore/checker/instruction_check.h"
#include "neuroncore/memory_map.h"

namespace opentrn::neuroncore::checker {

namespace {

void report(std::vector<Violation>& found, std::string_view rule, const Complaint& complaint) {
  found.push_back({std::string(rule), -1, to_string(complaint)});
}

void check_extent(const Program& program, const Machine& machine, const Buffer& buffer, std::vector<Violation>& found) {
  const std::string where = "buffer " + buffer.name;
  if (buffer.elements < 0 || buffer.partitions < 1 || buffer.copies < 1)
    report(found, "buffer", {.where = where, .what = "the buffer has no elements, partitions or copies"});
  if (buffer.space == Space::Hbm) {
    const bool has_data = buffer.role != Role::Constant ||
                          (buffer.index >= 0 && static_cast<size_t>(buffer.index) < program.constants.size() &&
                           static_cast<int64_t>(program.constants[static_cast<size_t>(buffer.index)].size()) >=
                               buffer.elements * size_of(buffer.dtype));
    if (!has_data) report(found, "buffer", {.where = where, .what = "the constant has no data"});
    return;
  }
  if (buffer.role != Role::Internal)
    report(found, "buffer",
           {.where = where, .what = "a parameter, result or constant lies on the chip", .expected = "HBM"});
  if (buffer.partitions > machine.partitions)
    report(found, "partition-limit",
           {.where = where,
            .what = "the tile has too many partitions",
            .got = concat(buffer.partitions),
            .expected = concat("at most ", machine.partitions, " on ", machine.name)});
}

int64_t capacity(const Machine& machine, Space space) {
  switch (space) {
    case Space::Hbm: return machine.hbm_bytes_per_logical_core();
    case Space::Sbuf: return machine.sbuf_bytes_per_partition;
    case Space::Psum: return machine.psum_bytes_per_partition();
  }
  __builtin_unreachable();
}

constexpr std::array<std::string_view, 3> kNames{"hbm", "sbuf", "psum"};

void check_capacity(const Program& program, const Machine& machine, const Structure& structure, Space space,
                    std::vector<Violation>& found) {
  const std::string_view what = kNames[static_cast<size_t>(space)];
  const int64_t most = capacity(machine, space);
  for (const Buffer& buffer : program.buffers) {
    if (buffer.space != space || buffer.role != Role::Internal || buffer.address < 0) continue;
    if (buffer.address + buffer_bytes(buffer) > most)
      report(found, concat(what, "-capacity"),
             {.where = "buffer " + buffer.name,
              .what = concat("the buffer ends behind the ", what, " of ", machine.name),
              .got = concat("byte ", buffer.address + buffer_bytes(buffer)),
              .expected = concat("at most ", most)});
  }
  const int64_t peak = peak_bytes(program, structure, space);
  if (peak > most)
    report(found, concat(what, "-capacity"),
           {.where = concat("program ", program.name),
            .what = concat("buffers that are in use at the same time do not fit in the ", what, " of ", machine.name),
            .got = concat(peak, " bytes"),
            .expected = concat("at most ", most)});
}

void check_overlap(const Program& program, const Structure& structure, std::vector<Violation>& found) {
  for (const auto& [one, other] : shared_memory(program, structure)) {
    const Interval a = lifetime(program, structure, one);
    const Interval b = lifetime(program, structure, other);
    if (a.high < b.low || b.high < a.low) continue;
    report(found, "memory-overlap",
           {.where = "buffer " + program.buffers[static_cast<size_t>(other)].name,
            .what = concat("the buffer shares memory with buffer ", program.buffers[static_cast<size_t>(one)].name,
                           " while both are in use"),
            .got = concat("address ", program.buffers[static_cast<size_t>(other)].address),
            .expected = concat("none of the ", buffer_bytes(program.buffers[static_cast<size_t>(one)]), " bytes from ",
                               program.buffers[static_cast<size_t>(one)].address)});
  }
}

}  // namespace

void check_memory(const Program& program, const Machine& machine, const Structure& structure,
                  std::vector<Violation>& found) {
  const size_t before = found.size();
  for (const Buffer& buffer : program.buffers) check_extent(program, machine, buffer, found);
  if (found.size() > before) return;
  for (const Space space : {Space::Hbm, Space::Sbuf, Space::Psum})
    check_capacity(program, machine, structure, space, found);
  check_overlap(program, structure, found);
}

}  // namespace opentrn::neuroncore::checker
