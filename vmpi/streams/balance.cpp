#include "vmpi/streams/balance.hpp"

#include <algorithm>

namespace ardoise::vmpi {

std::optional<std::size_t> EndpointPicker::pick(std::span<const WriterLoad> loads, int buffers) {
  const auto count = loads.size();
  if (balance_ == Balance::none) {
    const auto first = std::find_if(loads.begin(), loads.end(), [](const auto& load) { return load.is_open; });
    if (first == loads.end()) return std::nullopt;
    return static_cast<std::size_t>(first - loads.begin());
  }
  const auto open = std::count_if(loads.begin(), loads.end(), [](const auto& load) { return load.is_open; });
  if (open == 0) return std::nullopt;
  const auto share = (buffers + open - 1) / open;

  const auto start =
      balance_ == Balance::random ? std::uniform_int_distribution<std::size_t>(0, count - 1)(random_) : next_;
  std::optional<std::size_t> least_loaded;
  for (std::size_t step = 0; step < count; ++step) {
    const auto candidate = (start + step) % count;
    const auto& load = loads[candidate];
    if (!load.is_open) continue;
    if (load.in_flight < share) {
      next_ = (candidate + 1) % count;
      return candidate;
    }
    if (!least_loaded || load.in_flight < loads[*least_loaded].in_flight) least_loaded = candidate;
  }
  next_ = (*least_loaded + 1) % count;
  return least_loaded;
}

}  // namespace ardoise::vmpi
