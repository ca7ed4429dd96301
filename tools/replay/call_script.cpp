#include "tools/replay/call_script.hpp"

#include <algorithm>
#include <cstring>

namespace ardoise::replay {
namespace {

constexpr std::uint64_t kLow = UINT32_MAX;

std::uint64_t hash_of(const CallShape& shape, std::span<const std::int64_t> words) {
  const std::string_view fixed(reinterpret_cast<const char*>(&shape), sizeof shape);
  const std::string_view lists(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  return std::hash<std::string_view>{}(fixed)*31 + std::hash<std::string_view>{}(lists);
}

}  // namespace

std::span<const std::int64_t> Lists::find(ListKind kind) const {
  for (std::size_t i = 0; i < words_.size();) {
    const auto head = static_cast<std::uint64_t>(words_[i]);
    const auto count = static_cast<std::size_t>(head & kLow);
    if (static_cast<ListKind>(head >> 32) == kind) return words_.subspan(i + 1, count);
    i += 1 + count;
  }
  return {};
}

CallScript::CallScript(const std::filesystem::path& scratch_folder, std::size_t threads) : shapes_(scratch_folder) {
  for (std::size_t i = 0; i < threads; ++i) threads_.push_back(std::make_unique<ScratchFile>(scratch_folder));
}

std::uint32_t CallScript::add_shape(CallShape shape, const std::vector<List>& lists) {
  words_.clear();
  for (const List& list : lists) {
    if (list.values.empty()) continue;
    words_.push_back(static_cast<std::int64_t>(std::uint64_t{static_cast<std::uint32_t>(list.kind)} << 32 |
                                               (list.values.size() & kLow)));
    words_.insert(words_.end(), list.values.begin(), list.values.end());
  }
  shape.list_words = static_cast<std::uint32_t>(words_.size());
  const std::uint64_t hash = hash_of(shape, words_);
  const auto [first, last] = known_shapes_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    const CallShape& other = this->shape(known->second);
    if (std::memcmp(&other, &shape, sizeof shape) == 0 &&
        std::memcmp(&other + 1, words_.data(), words_.size() * sizeof words_[0]) == 0)
      return known->second;
  }
  const std::uint64_t place = shapes_.append(&shape, sizeof shape);
  if (!words_.empty()) shapes_.append(words_.data(), words_.size() * sizeof words_[0]);
  const std::uint64_t number = place / 8;
  if (number >= kLong) throw ReplayError("the trace has too many different calls: replay a part of it");
  if (known_shapes_.size() >= kMostKnown) known_shapes_.clear();
  known_shapes_.emplace(hash, static_cast<std::uint32_t>(number));
  return static_cast<std::uint32_t>(number);
}

std::uint32_t CallScript::add_text(std::string_view text) {
  if (text.empty()) return 0;
  const auto [known, is_new] = text_numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.emplace_back(text);
  return known->second;
}

std::uint64_t CallScript::add_step(std::size_t thread, std::uint32_t shape, std::uint64_t pause, std::uint64_t duration,
                                   std::uint32_t slot) {
  ScratchFile& file = *threads_[thread];
  if ((pause | duration) > kLow) {
    const Step upper{kLong, static_cast<std::uint32_t>(pause >> 32), static_cast<std::uint32_t>(duration >> 32), 0};
    file.append(&upper, sizeof upper);
  }
  const Step step{shape, static_cast<std::uint32_t>(pause), static_cast<std::uint32_t>(duration), slot};
  return file.append(&step, sizeof step) / sizeof step;
}

void CallScript::change_shape(std::size_t thread, std::uint64_t step, std::uint32_t shape) {
  steps(thread)[static_cast<std::size_t>(step)].shape = shape;
}

std::span<const Step> CallScript::steps(std::size_t thread) const {
  const ScratchFile& file = *threads_[thread];
  return {reinterpret_cast<const Step*>(file.at(0)), static_cast<std::size_t>(file.size() / sizeof(Step))};
}
std::span<Step> CallScript::steps(std::size_t thread) {
  ScratchFile& file = *threads_[thread];
  return {reinterpret_cast<Step*>(file.at(0)), static_cast<std::size_t>(file.size() / sizeof(Step))};
}

std::uint64_t CallScript::bytes() const {
  std::uint64_t sum = shapes_.size();
  for (const auto& thread : threads_) sum += thread->size();
  return sum;
}

}  // namespace ardoise::replay
