// The known names of the program's marks. A name is represented by its hash, equal in all processes, and is defined
// once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "instrument/buffer/definition_queue.hpp"
#include "instrument/format/mark_name.hpp"

namespace ardoise::instrument {

// Thread safe.
class MarkNames {
 public:
  static constexpr std::uint32_t kMost = 4096;  // further names share one
  static constexpr std::string_view kFurther = "(further names)";

  // Returns a known name without a lock; defines a new one, which may wait.
  [[nodiscard]] std::uint32_t id_of(std::string_view name, DefinitionQueue& definitions) {
    name = name.substr(0, kMaxMarkName);
    const std::uint32_t id = mark_name_id(name);
    for (std::uint32_t slot = id;; ++slot) {
      std::atomic<std::uint32_t>& known = ids_[slot % ids_.size()];
      std::uint32_t found = known.load(std::memory_order_relaxed);
      if (found == 0) {
        if (count_.load(std::memory_order_relaxed) >= kMost && name != kFurther) return id_of(kFurther, definitions);
        if (known.compare_exchange_strong(found, id, std::memory_order_relaxed)) {
          count_.fetch_add(1, std::memory_order_relaxed);
          (void)definitions.add(MarkNameDefinition{id, 0}, name);
          return id;
        }
      }
      if (found == id) return id;
    }
  }

 private:
  // Relaxed: no other data depends on them; readers resolve names at the end. Never full: fewer threads can meet at the
  // last place than there are free places.
  std::array<std::atomic<std::uint32_t>, 2 * kMost> ids_{};
  std::atomic<std::uint32_t> count_ = 0;
};

}  // namespace ardoise::instrument
