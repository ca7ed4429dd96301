// Interned strings: each distinct text once, identified by a number. Paths and names in the definitions of a hundred
// thousand processes are mostly the same few. Number 0 is the empty text. Not thread safe.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace ardoise::knowledge_sources {

using TextId = std::uint32_t;

class StringPool {
 public:
  StringPool() { (void)intern(""); }
  TextId intern(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    const auto id = static_cast<TextId>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);  // a deque never moves its strings
    return id;
  }
  [[nodiscard]] std::string_view text(TextId id) const { return texts_[id]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, TextId> ids_;
};

}  // namespace ardoise::knowledge_sources
