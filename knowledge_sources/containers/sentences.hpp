// Bounded counts of sentences for the user: the kKept sentences that sort first are kept in full, all are counted. The
// selection does not depend on the order of arrival. Not thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "knowledge_sources/containers/byte_stream.hpp"

namespace ardoise::knowledge_sources {

class Sentences {
 public:
  static constexpr std::size_t kKept = 16;

  void add(const std::string& sentence, std::uint64_t times = 1) {
    total_ += times;
    keep(sentence, times);
  }
  [[nodiscard]] std::uint64_t total() const { return total_; }
  // "sentence" or "sentence (3 times)".
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> result;
    for (const auto& [sentence, times] : kept_) {
      result.push_back(times == 1 ? sentence : sentence + " (" + std::to_string(times) + " times)");
    }
    return result;
  }

  void write(ByteWriter& out) const {
    out.put(total_);
    out.put_count(kept_.size());
    for (const auto& [sentence, times] : kept_) {
      out.put_text(sentence);
      out.put(times);
    }
  }
  static Sentences read(ByteReader& in) {
    Sentences result;
    result.total_ = in.get<std::uint64_t>();
    for (auto left = in.get_count(12); left != 0; --left) {
      const std::string sentence(in.get_text());
      result.keep(sentence, in.get<std::uint64_t>());
    }
    return result;
  }
  void merge(const Sentences& other) {
    total_ += other.total_;
    for (const auto& [sentence, times] : other.kept_) keep(sentence, times);
  }

 private:
  void keep(const std::string& sentence, std::uint64_t times) {
    kept_[sentence] += times;
    if (kept_.size() > kKept) kept_.erase(std::prev(kept_.end()));
  }

  std::uint64_t total_ = 0;
  std::map<std::string, std::uint64_t> kept_;
};

}  // namespace ardoise::knowledge_sources
