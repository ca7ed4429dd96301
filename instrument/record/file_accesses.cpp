#include "instrument/record/file_accesses.hpp"

#include <algorithm>

#include "instrument/machine/mapped_memory.hpp"

namespace ardoise::instrument {
namespace {

constexpr std::uint64_t kFewCalls = 4;  // too few for a pattern

// Upper bounds of Darshan's classes.
constexpr std::array<std::uint64_t, 9> kSizes{100,      1U << 10,  10U << 10,  100U << 10, 1U << 20,
                                              4U << 20, 10U << 20, 100U << 20, 1U << 30};

std::size_t class_of(std::uint64_t bytes) {
  return static_cast<std::size_t>(std::upper_bound(kSizes.begin(), kSizes.end(), bytes == 0 ? 0 : bytes - 1) -
                                  kSizes.begin());
}

}  // namespace

FileAccesses::FileAccesses() : table_(static_cast<Table*>(map_memory(sizeof(Table)))) {}

FileAccesses::~FileAccesses() {
  if (table_ != nullptr) unmap_memory(table_, sizeof(Table));
}

void FileAccesses::move_to(int descriptor, std::int64_t position) noexcept {
  if (table_ == nullptr || descriptor < 0 || descriptor >= kDescriptors || position < 0) return;
  table_->positions[descriptor].store(static_cast<std::uint64_t>(position), std::memory_order_relaxed);
}

void FileAccesses::add(std::uint32_t file, int descriptor, std::int64_t position, std::uint64_t bytes,
                       bool write) noexcept {
  if (table_ == nullptr || file == 0 || file >= kFiles || bytes == 0) return;
  auto begin = static_cast<std::uint64_t>(position);
  if (position == kHere) {
    if (descriptor < 0 || descriptor >= kDescriptors) return;
    begin = table_->positions[descriptor].fetch_add(bytes, std::memory_order_relaxed);
  }
  Access& access = table_->accesses[file];
  const auto one_more = [](Counter& counter) { counter.fetch_add(1, std::memory_order_relaxed); };
  one_more(access.sizes[write ? 1 : 0][class_of(bytes)]);
  const std::uint64_t before = access.end.exchange(begin + bytes, std::memory_order_relaxed);
  if (access.calls.fetch_add(1, std::memory_order_relaxed) == 0) return;
  if (begin == before) {
    one_more(access.consecutive);
  } else if (begin < before) {
    one_more(access.backward);
  } else {
    const std::uint64_t gap = access.gap.exchange(begin - before, std::memory_order_relaxed);
    one_more(gap == begin - before ? access.strided : access.forward);
  }
}

void FileAccesses::define(DefinitionQueue& definitions) {
  if (table_ == nullptr) return;
  assert_may_wait();
  const auto value = [](const Counter& counter) { return counter.load(std::memory_order_relaxed); };
  for (std::uint32_t file = 1; file < kFiles; ++file) {
    const Access& access = table_->accesses[file];
    if (value(access.calls) < kFewCalls) continue;
    FileAccessDefinition definition{
        file, 0, value(access.consecutive), value(access.forward), value(access.strided), value(access.backward),
        {},   {}};
    for (std::size_t i = 0; i < access.sizes[0].size(); ++i) {
      definition.reads[i] = value(access.sizes[0][i]);
      definition.writes[i] = value(access.sizes[1][i]);
    }
    (void)definitions.add(definition);
  }
}

}  // namespace ardoise::instrument
