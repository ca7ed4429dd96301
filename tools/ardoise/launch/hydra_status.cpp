#include "tools/ardoise/launch/hydra_status.hpp"

#include <signal.h>

#include <algorithm>
#include <charconv>

namespace ardoise::launcher {
namespace {

constexpr std::string_view kMark = "[mpiexec@";
constexpr std::string_view kTitle = "] Exit codes: ";
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

// Length of the longest suffix of `text` that is a prefix of the mark.
std::size_t begun(std::string_view text) {
  for (std::size_t length = std::min(text.size(), kMark.size() - 1); length > 0; --length) {
    if (kMark.starts_with(text.substr(text.size() - length))) return length;
  }
  return 0;
}

}  // namespace

void HydraStatus::take_codes(std::string_view codes) {
  while (!codes.empty()) {
    const auto end = std::min(codes.find(','), codes.size());
    int code = 0;
    std::from_chars(codes.data(), codes.data() + end, code);
    if (code > 0 && code != SIGKILL) failed_ |= code;
    codes.remove_prefix(std::min(end + 1, codes.size()));
  }
}

bool HydraStatus::take(std::string_view line) {
  if (const auto title = line.find(kTitle); line.starts_with(kMark) && title != std::string_view::npos) {
    in_list_ = true;
    line.remove_prefix(title + kTitle.size());
  }
  if (!in_list_) return false;
  const auto end = line.find("] ");
  in_list_ = line.starts_with('[') && end != std::string_view::npos &&
             line.find_first_not_of("-0123456789,", end + 2) == std::string_view::npos;
  if (in_list_) take_codes(line.substr(end + 2));
  return in_list_;
}

std::string HydraStatus::pass(std::string_view piece) {
  held_ += piece;
  std::string passed;
  for (;;) {
    // In the list every line is checked, outside it only text that begins with the mark.
    if (!in_list_) {
      const auto mark = held_.find(kMark);
      const auto ready = mark != std::string::npos ? mark : held_.size() - begun(held_);
      passed += held_.substr(0, ready);
      held_.erase(0, ready);
      if (mark == std::string::npos) return passed;
    }
    const auto end = held_.find('\n');
    if (end == std::string::npos) {
      if (held_.size() > kLongestLine) passed += rest();
      return passed;
    }
    if (!take(std::string_view(held_).substr(0, end)) || keeps_list_) passed += held_.substr(0, end + 1);
    held_.erase(0, end + 1);
  }
}

std::string HydraStatus::rest() {
  std::string all;
  all.swap(held_);
  return all;
}

// As in Hydra's mpiexec: the raw status if it contains a signal, including the flag of a core dump.
int HydraStatus::status(int of_mpiexec) const {
  if (failed_ == 0) return of_mpiexec;
  return (failed_ & 0x7f) != 0 ? failed_ & 0xff : (failed_ >> 8) & 0xff;
}

}  // namespace ardoise::launcher
