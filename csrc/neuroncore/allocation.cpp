// Addresses on the chip: buffers in the order in which they come alive, each at the lowest address that is free for as
// long as it lives.
#include <algorithm>
#include <map>

#include "neuroncore/memory_map.h"

namespace opentrn::neuroncore {

namespace {

constexpr int64_t kAlignment = 64;  // bytes: no tile straddles more lines than it must

struct Placed {
  int64_t begin = 0, end = 0;
  Interval alive;
};

struct Request {
  int32_t buffer = -1;
  Interval alive;
};

std::vector<Request> requests(const Program& program, const Structure& structure, Space space, bool placed) {
  std::vector<Request> list;
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    const bool used = structure.last_use[b] >= structure.first_use[b];
    if (!used || buffer.space != space || buffer.role != Role::Internal || (buffer.address >= 0) != placed) continue;
    list.push_back({static_cast<int32_t>(b), lifetime(program, structure, static_cast<int32_t>(b))});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Request& one, const Request& other) { return one.alive.low < other.alive.low; });
  return list;
}

/// The first place at or after `address` where a buffer may begin.
int64_t aligned(int64_t address, const Buffer& buffer) {
  const int64_t copy = copy_bytes(buffer);
  const int64_t step = buffer.space == Space::Psum ? std::min(copy, kPsumBankBytes) : kAlignment;
  return step > 0 ? (address + step - 1) / step * step : address;
}

bool place(Program& program, const Structure& structure, Space space, int64_t capacity) {
  std::vector<Placed> active;
  for (const Request& fixed : requests(program, structure, space, true)) {
    const Buffer& buffer = program.buffers[static_cast<size_t>(fixed.buffer)];
    active.push_back({buffer.address, buffer.address + buffer_bytes(buffer), fixed.alive});
  }
  const auto by_address = [](const Placed& one, const Placed& other) { return one.begin < other.begin; };
  std::sort(active.begin(), active.end(), by_address);
  for (const Request& request : requests(program, structure, space, false)) {
    Buffer& buffer = program.buffers[static_cast<size_t>(request.buffer)];
    std::erase_if(active, [&](const Placed& one) { return one.alive.high < request.alive.low; });
    int64_t address = 0;
    for (const Placed& one : active) {
      if (one.alive.low > request.alive.high) continue;
      if (address + buffer_bytes(buffer) <= one.begin) break;
      address = std::max(address, aligned(one.end, buffer));
    }
    const Placed placed{address, address + buffer_bytes(buffer), request.alive};
    if (placed.end > capacity) return false;
    buffer.address = address;
    active.insert(std::upper_bound(active.begin(), active.end(), placed, by_address), placed);
  }
  return true;
}

}  // namespace

int64_t peak_bytes(const Program& program, const Structure& structure, Space space) {
  std::map<int64_t, int64_t> change;
  for (const Request& request : requests(program, structure, space, false)) {
    const int64_t bytes = buffer_bytes(program.buffers[static_cast<size_t>(request.buffer)]);
    change[request.alive.low] += bytes;
    change[request.alive.high + 1] -= bytes;
  }
  int64_t now = 0;
  int64_t peak = 0;
  for (const auto& [when, bytes] : change) peak = std::max(peak, now += bytes);
  return peak;
}

bool allocate(Program& program, const Machine& machine) {
  const Structure structure(program);
  const std::vector<Buffer> before = program.buffers;
  const bool fits = place(program, structure, Space::Sbuf, machine.sbuf_bytes_per_partition) &&
                    place(program, structure, Space::Psum, machine.psum_bytes_per_partition());
  if (!fits) program.buffers = before;
  return fits;
}

}  // namespace opentrn::neuroncore
