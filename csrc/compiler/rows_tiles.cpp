#include "compiler/rows_tiles.h"

#include <utility>

namespace opentrn::compiler::rows {

using neuroncore::Access;
using neuroncore::PatternDimension;
using neuroncore::ScalarOperand;
using neuroncore::Term;

Tiles::Tiles(neuroncore::Builder& program, const Description& description, const Nest& nest, int copies)
    : program_(program),
      description_(description),
      nest_(nest),
      copies_(copies),
      loops_(nest.dimensions.size(), -1),
      buffers_(description.tiles.size(), -1) {
  for (const bool reduced : {false, true}) {
    for (size_t d = 0; d < nest.dimensions.size(); ++d) {
      const NestDimension& dimension = nest.dimensions[d];
      if (dimension.role == Role::Free && dimension.reduced == reduced) free_.push_back(d);
      if (dimension.role == Role::Partition && !reduced) partition_ = static_cast<int>(d);
    }
  }
}

void Tiles::open(size_t d, bool independent) {
  const NestDimension& dimension = nest_.dimensions[d];
  if (dimension.tiles() <= 1) return;
  loops_[d] = program_.begin_loop(dimension.tiles(), independent);
  ++open_;
}

void Tiles::close_to(size_t count) {
  for (; open_ > count; --open_) program_.end_loop();
}

PatternDimension Tiles::pattern_dimension(size_t d, int64_t step) const {
  const NestDimension& dimension = nest_.dimensions[d];
  PatternDimension result{.step = step, .size = dimension.tile};
  if (loops_[d] >= 0 && dimension.tail() != 0) {
    result.tail_loop = loops_[d];
    result.tail = dimension.tail();
  }
  return result;
}

PatternDimension Tiles::partitions(int64_t step) const {
  if (partition_ < 0) return {.step = step, .size = 1};
  return pattern_dimension(static_cast<size_t>(partition_), step);
}

int64_t Tiles::elements(uint64_t mask) const {
  int64_t product = 1;
  for (const size_t d : free_) product *= (mask >> d & 1) != 0 ? nest_.dimensions[d].tile : 1;
  return product;
}

int32_t Tiles::buffer(int32_t tile) const {
  int32_t& buffer = buffers_[static_cast<size_t>(tile)];
  if (buffer >= 0) return buffer;
  const Tile& row = description_.tiles[static_cast<size_t>(tile)];
  const bool looped = open_ > 0 && row.in_flight;
  return buffer = program_.sbuf(row.dtype, partitions(1).size, elements(nest_.mask(row.varies)), looped ? copies_ : 1);
}

template <typename Function>
void Tiles::for_each_free(uint64_t mask, Function&& function) const {
  for (const size_t d : free_) {
    if ((mask >> d & 1) != 0) function(d);
  }
}

Access Tiles::on_chip(int32_t buffer, DType dtype, uint64_t varies, uint64_t over) const {
  const uint64_t own = nest_.mask(varies);
  const uint64_t seen = nest_.mask(over);
  Access access;
  access.buffer = buffer;
  access.dtype = dtype;
  access.pattern.reserve(1 + free_.size());
  access.pattern.push_back(partitions(1));
  int64_t step = elements(own);
  for (const size_t d : free_) {
    const bool has = (own >> d & 1) != 0;
    if (has) step /= nest_.dimensions[d].tile;
    if ((seen >> d & 1) != 0) access.pattern.push_back(pattern_dimension(d, has ? step : 0));
  }
  if (access.pattern.size() == 1) access.pattern.push_back({.step = 1, .size = 1});
  return access;
}

Access Tiles::extra(DType dtype, uint64_t varies) {
  const int32_t buffer = program_.sbuf(dtype, partitions(1).size, elements(nest_.mask(varies)));
  return on_chip(buffer, dtype, varies, varies);
}

Access Tiles::seen(Access whole, uint64_t varies, uint64_t over) const {
  return on_chip(whole.buffer, whole.dtype, varies, over);
}

Access Tiles::read(const Use& use, uint64_t over) const {
  const Slot& slot = description_.slot(use);
  return on_chip(buffer(slot.tile), use.dtype, slot.varies, over);
}

Access Tiles::write(int32_t number) const {
  const Slot& slot = description_.slots[static_cast<size_t>(number)];
  return on_chip(buffer(slot.tile), slot.dtype, slot.varies, slot.varies);
}

Access Tiles::temporary(const Step& step, size_t number) const {
  const int32_t tile = step.temporaries[number];
  const Tile& row = description_.tiles[static_cast<size_t>(tile)];
  return on_chip(buffer(tile), row.dtype, row.varies, row.varies);
}

bool Tiles::is_column(uint64_t varies) const { return elements(nest_.mask(varies)) == 1; }

ScalarOperand Tiles::scalar(const Use& use) const {
  const Slot& slot = description_.slot(use);
  if (slot.kind == Slot::Kind::Splat) return slot.number;
  if (use.dtype != DType::F32 || !is_column(slot.varies)) return {};
  return on_chip(buffer(slot.tile), use.dtype, slot.varies, 0);
}

std::vector<Term> Tiles::terms(const Line& line) const {
  std::vector<Term> result;
  for (size_t d = 0; d < loops_.size(); ++d) {
    if (loops_[d] < 0 || line.strides[d] == 0) continue;
    result.push_back({.index = loops_[d], .coefficient = line.strides[d] * nest_.dimensions[d].tile});
  }
  return result;
}

Access Tiles::hbm(int32_t buffer, DType dtype, const Line& line, uint64_t over) const {
  Access access;
  access.buffer = buffer;
  access.dtype = dtype;
  access.offset = line.offset;
  access.terms = terms(line);
  access.pattern.reserve(1 + free_.size());
  access.pattern.push_back(partitions(partition_ < 0 ? 0 : line.strides[static_cast<size_t>(partition_)]));
  for_each_free(nest_.mask(over), [&](size_t d) { access.pattern.push_back(pattern_dimension(d, line.strides[d])); });
  if (access.pattern.size() == 1) access.pattern.push_back({.step = 1, .size = 1});
  return access;
}

int Tiles::reduced_dimensions() const {
  int count = 0;
  for (const size_t d : free_) count += nest_.dimensions[d].reduced ? 1 : 0;
  return count;
}

Tiles::Iota Tiles::iota(const Line& line, uint64_t over) const {
  Iota result;
  result.base = line.offset;
  result.per_partition = partition_ < 0 ? 0 : line.strides[static_cast<size_t>(partition_)];
  for_each_free(nest_.mask(over), [&](size_t d) { result.steps.push_back(line.strides[d]); });
  if (result.steps.empty()) result.steps.push_back(0);
  result.terms = terms(line);
  return result;
}

}  // namespace opentrn::compiler::rows
