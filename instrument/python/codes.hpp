// Functions of Python programs. Code objects become numbers, and a place in one becomes an address outside all memory,
// so that it can take the place of a return address.
//
//   code object, name, file, first line ──slots_, lock-free──▶ number ──▶ 1 | number | byte of the instruction
//                                            └─ new: copied ──push list──▶ define_new() ──▶ DefinitionQueue
//
// Code objects are freed and their memory is reused, so a code object is identified by its texts as well. All functions
// that import modules are one function (kImport), since they are Python's own.
#pragma once

#include <atomic>
#include <cstdint>

#include "instrument/buffer/definition_queue.hpp"
#include "instrument/buffer/push_list.hpp"
#include "instrument/python/layout.hpp"

namespace ardoise::instrument::python {

inline constexpr std::uint64_t kAddressBit = std::uint64_t{1} << 63;
[[nodiscard]] constexpr bool is_python(std::uint64_t address) { return (address & kAddressBit) != 0; }
[[nodiscard]] constexpr std::uint64_t address_of(std::uint32_t code, std::uint32_t instruction) {
  return kAddressBit | std::uint64_t{code} << 32 | instruction;
}
[[nodiscard]] constexpr std::uint32_t code_of(std::uint64_t address) {
  return static_cast<std::uint32_t>((address & ~kAddressBit) >> 32);
}

inline constexpr std::uint32_t kNoCode = 0;  // the table is full
inline constexpr std::uint32_t kImport = 1;

class Codes final : public DefinitionSource {
 public:
  static constexpr std::uint32_t kMaxCodes = 16384;
  static constexpr std::uint32_t kTextBytes = 8U << 20;  // for all texts

  explicit Codes(DefinitionQueue& definitions);
  ~Codes();
  Codes(const Codes&) = delete;
  Codes& operator=(const Codes&) = delete;
  [[nodiscard]] bool ready() const { return slots_ != nullptr; }

  // The number of a code object, from its contents. Memory: the type that reads it (checked_memory.hpp).
  // Async-signal-safe.
  template <class Memory>
  [[nodiscard]] std::uint32_t number_of(std::uint64_t code, const Layout& layout, Memory& memory) noexcept;

  // Equal in all processes of a program that run the same function; 0: not known yet. Async-signal-safe.
  [[nodiscard]] std::uint64_t hash_of(std::uint32_t code) const noexcept;

  void define_new(DefinitionQueue& definitions) override;

 private:
  static constexpr std::uint32_t kSlots = 2 * kMaxCodes;
  struct Slot {
    std::atomic<std::uint64_t> key;   // 0: free; the thread that sets it fills the rest
    std::atomic<std::uint64_t> hash;  // 0: not filled yet; release, acquire
    PushList::Link link;
    std::uint32_t first_line, minor;
    std::uint32_t texts;  // start of the texts: name, file, line table
    std::uint32_t name_bytes, file_bytes, table_bytes;
    bool is_import;
  };
  template <class Memory>
  void fill(Slot& slot, std::uint32_t place, const std::uint64_t (&texts)[3], const Layout& layout,
            Memory& memory) noexcept;
  template <class Memory>
  std::uint32_t copy_text(std::uint64_t text, std::uint32_t room, char* to, const Layout& layout,
                          Memory& memory) noexcept;

  Slot* slots_;  // a mapping with kSlots slots and the texts: only used pages are allocated
  char* texts_ = nullptr;
  std::atomic<std::uint32_t> texts_used_ = 0, count_ = 0;
  PushList new_;
};

}  // namespace ardoise::instrument::python
