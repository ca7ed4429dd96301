#include "instrument/python/codes.hpp"

#include <algorithm>
#include <string_view>

#include "instrument/machine/mapped_memory.hpp"
#include "instrument/python/checked_memory.hpp"

namespace ardoise::instrument::python {
namespace {

constexpr std::uint32_t kMostName = 256, kMostFile = 1024, kMostTable = 8192;
constexpr std::string_view kImporter = "<frozen importlib", kImporterOf39 = "<frozen zipimport";

constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 29;
}

std::uint64_t hash_of_text(std::uint64_t hash, std::string_view text) {
  for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3u;
  return hash;
}

// Writes UTF-8 and returns the number of bytes.
std::uint32_t put_character(std::uint32_t character, char* to) {
  const auto put = [&](std::uint32_t value) { *to++ = static_cast<char>(value); };
  const auto more = [&](unsigned shift) { put(0x80u | (character >> shift & 0x3Fu)); };
  if (character < 0x80) return put(character), 1;
  if (character < 0x800) return put(0xC0u | character >> 6), more(0), 2;
  if (character < 0x10000) return put(0xE0u | character >> 12), more(6), more(0), 3;
  return put(0xF0u | (character >> 18 & 7u)), more(12), more(6), more(0), 4;
}

}  // namespace

Codes::Codes(DefinitionQueue& definitions)
    : slots_(static_cast<Slot*>(map_memory(kSlots * sizeof(Slot) + kTextBytes))) {
  if (slots_ == nullptr) return;
  texts_ = reinterpret_cast<char*>(slots_ + kSlots);
  definitions.add_source(*this);
}

Codes::~Codes() {
  if (slots_ != nullptr) unmap_memory(slots_, kSlots * sizeof(Slot) + kTextBytes);
}

// Copies a str as UTF-8, at most `room` bytes.
template <class Memory>
std::uint32_t Codes::copy_text(std::uint64_t text, std::uint32_t room, char* to, const Layout& layout,
                               Memory& memory) noexcept {
  std::uint64_t length = 0;
  std::uint32_t state = 0;
  if (!memory.read(text + kTextLength, length) || !memory.read(text + kTextState, state)) return 0;
  const std::uint32_t kind = state >> 2 & 7u;
  const bool compact = (state & 32u) != 0, ascii = (state & 64u) != 0;
  if (!compact || (kind != 1 && kind != 2 && kind != 4)) return 0;
  const std::uint64_t characters = text + (ascii ? layout.ascii : layout.compact);
  std::uint32_t used = 0;
  for (std::uint64_t i = 0; i < length && used + 4 <= room; ++i) {
    std::uint32_t character = 0;
    if (!memory.copy(characters + i * kind, &character, kind)) return used;
    used += put_character(character, to + used);
  }
  return used;
}

template <class Memory>
void Codes::fill(Slot& slot, std::uint32_t place, const std::uint64_t (&texts)[3], const Layout& layout,
                 Memory& memory) noexcept {
  std::uint64_t table_bytes = 0;
  if (!memory.read(texts[2] + kSize, table_bytes)) table_bytes = 0;
  // Reserves the maximum.
  const auto table = static_cast<std::uint32_t>(std::min<std::uint64_t>(table_bytes, kMostTable));
  const std::uint32_t wanted = kMostName + kMostFile + table;
  std::uint32_t at = texts_used_.load(std::memory_order_relaxed);
  do {
    if (at + wanted > kTextBytes) return;  // its number stays unknown
  } while (!texts_used_.compare_exchange_weak(at, at + wanted, std::memory_order_relaxed));
  slot.texts = at;
  slot.name_bytes = copy_text(texts[1], kMostName, texts_ + at, layout, memory);
  slot.file_bytes = copy_text(texts[0], kMostFile, texts_ + at + slot.name_bytes, layout, memory);
  char* const lines = texts_ + at + slot.name_bytes + slot.file_bytes;
  slot.table_bytes = table != 0 && memory.copy(texts[2] + kBytes, lines, table) ? table : 0;
  // Returns unused room if no other thread has reserved any meanwhile.
  std::uint32_t end = at + wanted;
  (void)texts_used_.compare_exchange_strong(end, at + slot.name_bytes + slot.file_bytes + slot.table_bytes,
                                            std::memory_order_relaxed);
  const std::string_view name(texts_ + at, slot.name_bytes), file(texts_ + at + slot.name_bytes, slot.file_bytes);
  slot.minor = layout.minor;
  slot.is_import = file.starts_with(kImporter) || file.starts_with(kImporterOf39);
  const std::uint64_t hash = mixed(hash_of_text(hash_of_text(0xCBF29CE484222325u, name), file), slot.first_line);
  if (!slot.is_import) new_.push(place + 1, slot.link);
  slot.hash.store(hash | 1, std::memory_order_release);
}

template <class Memory>
std::uint32_t Codes::number_of(std::uint64_t code, const Layout& layout, Memory& memory) noexcept {
  std::uint64_t texts[3];  // file, name, lines
  std::uint32_t first_line = 0;
  if (!memory.read(code + layout.file, texts[0]) || !memory.read(code + layout.name, texts[1]) ||
      !memory.read(code + layout.lines, texts[2]) || !memory.read(code + layout.first_line, first_line))
    return kNoCode;
  const std::uint64_t key = mixed(mixed(mixed(mixed(code, texts[0]), texts[1]), texts[2]), first_line) | 1;
  for (std::uint64_t i = key >> 32;; ++i) {
    const auto place = static_cast<std::uint32_t>(i % kSlots);
    Slot& slot = slots_[place];
    std::uint64_t there = slot.key.load(std::memory_order_acquire);
    if (there == 0) {
      if (count_.load(std::memory_order_relaxed) >= kMaxCodes) return kNoCode;
      if (slot.key.compare_exchange_strong(there, key, std::memory_order_acq_rel)) {
        count_.fetch_add(1, std::memory_order_relaxed);
        slot.first_line = first_line;
        fill(slot, place, texts, layout, memory);
        there = key;
      }
    }
    // Numbers begin after kImport. A slot that another thread is filling may fail to count as an import once.
    if (there == key) return slot.is_import ? kImport : place + 2;
  }
}

template std::uint32_t Codes::number_of(std::uint64_t, const Layout&, CheckedMemory&) noexcept;
template std::uint32_t Codes::number_of(std::uint64_t, const Layout&, OwnMemory&) noexcept;

std::uint64_t Codes::hash_of(std::uint32_t code) const noexcept {
  if (code <= kImport) return 1;
  return slots_[code - 2].hash.load(std::memory_order_acquire);
}

void Codes::define_new(DefinitionQueue& definitions) {
  assert_may_wait();
  for (std::uint32_t place = new_.take_all(); place != PushList::kEnd;) {
    const Slot& slot = slots_[place - 1];
    const char* const texts = texts_ + slot.texts;
    (void)definitions.add(PythonCodeDefinition{place + 1, slot.minor, slot.first_line, 0},
                          std::string_view(texts, slot.name_bytes),
                          std::string_view(texts + slot.name_bytes, slot.file_bytes),
                          std::string_view(texts + slot.name_bytes + slot.file_bytes, slot.table_bytes));
    place = slot.link.load(std::memory_order_relaxed);
  }
}

}  // namespace ardoise::instrument::python
