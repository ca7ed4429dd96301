#include "instrument/settings/function_set.hpp"

#include <algorithm>

#include "instrument/settings/option.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::instrument {

bool FunctionSet::add(std::string_view name) noexcept {
  static_assert(vmpi::kFunctionCount <= 64 * (kWords - 1));
  if (name == "mpi") {
    std::fill(words_.begin(), words_.end() - 1, ~std::uint64_t{0});
    return true;
  }
  if (name == "io") {
    words_.back() = ~std::uint64_t{0};
    return true;
  }
  for (std::size_t i = 0; i < vmpi::kFunctionCount; ++i) {
    if (name != vmpi::kFunctionTraits[i].name) continue;
    words_[i / 64] |= std::uint64_t{1} << i % 64;
    return true;
  }
  for (std::size_t i = 0; i < kPosixFunctionCount; ++i) {
    if (name != kPosixFunctions[i].name) continue;
    words_.back() |= std::uint64_t{1} << i;
    return true;
  }
  return false;
}

bool parse_record(std::string_view text, FunctionSet& sums) noexcept {
  constexpr std::string_view kSomeSums = "sums:";
  sums = text == "sums" ? FunctionSet::all() : FunctionSet();
  if (text == "events" || text == "sums") return true;
  if (!text.starts_with(kSomeSums) || text == kSomeSums) return false;
  text.remove_prefix(kSomeSums.size());
  while (!text.empty()) {
    if (!sums.add(take_word(text, ','))) return false;
  }
  return true;
}

}  // namespace ardoise::instrument
