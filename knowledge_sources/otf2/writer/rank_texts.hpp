// Texts in the attributes of one rank's events: its datatypes, and lists of numbers. The numbers are the rank's own,
// and become strings of the archive when it is made.
//
//   1 … kLists - 1           a datatype, by its number in the process
//   kLists …                 a text
//   kTypeLists …             numbers of datatypes, with commas: becomes their texts, with " | "
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace ardoise::knowledge_sources {

// Not thread safe.
class RankTexts {
 public:
  static constexpr std::uint32_t kLists = 1u << 20, kTypeLists = 1u << 21;
  static constexpr std::size_t kMost = 65536;           // texts of a rank
  static constexpr std::size_t kMostBytes = 16u << 20;  // of all of them

  // nullopt: there is no room.
  [[nodiscard]] std::optional<std::uint32_t> number(const std::string& text, bool is_type_list) {
    auto& numbers = is_type_list ? type_lists_ : lists_;
    if (const auto found = numbers.find(text); found != numbers.end()) return found->second;
    if (lists_.size() + type_lists_.size() >= kMost || bytes_ + text.size() > kMostBytes) return std::nullopt;
    bytes_ += text.size();
    const std::uint32_t number = (is_type_list ? kTypeLists : kLists) + next_++;
    numbers.emplace(text, number);
    return number;
  }
  // Another part of the trace has used the numbers up to this one.
  void begin_behind(std::uint32_t number) {
    const std::uint32_t used = number >= kTypeLists ? number - kTypeLists : number >= kLists ? number - kLists : 0;
    if (number >= kLists && used >= next_) next_ = used + 1;
  }
  // use(number, text)
  template <class Use>
  void for_each(Use&& use) const {
    for (const auto& [text, number] : lists_) use(number, text);
    for (const auto& [text, number] : type_lists_) use(number, text);
  }

 private:
  std::map<std::string, std::uint32_t> lists_, type_lists_;
  std::uint32_t next_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace ardoise::knowledge_sources
