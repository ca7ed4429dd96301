#include "reports/losses/started_programs.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "reports/findings/sample_view.hpp"
#include "reports/losses/words.hpp"

namespace ardoise::reports {

std::string starter_of_programs(const Application& a, double good_part) {
  const SampleProfile& s = a.samples;
  const auto starts = [](const SampledFunction& f) {
    const std::string_view symbol = without_underscores(f.symbol);
    return symbol == "fork" || symbol == "vfork" || symbol == "libc_fork" || symbol.starts_with("posix_spawn") ||
           symbol.starts_with("spawni") || symbol == "do_system" || symbol == "Popen.__init__" ||
           symbol == "Popen._execute_child";
  };
  std::vector<bool> beneath(s.tree.parent.size());
  std::vector<double> seconds(s.functions.size());
  for (std::uint32_t i = 0; i < beneath.size(); ++i) {
    const std::uint32_t parent = s.tree.parent[i];
    beneath[i] = starts(s.functions[s.tree.function[i]]) || (parent != kNoParent && beneath[parent]);
    if (beneath[i]) seconds[function_of_program(s, i)] += s.tree.self[i];
  }
  const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  if (!(all > good_part * s.self)) return "";
  const auto most = std::ranges::max_element(seconds);
  return name_and_place(s, static_cast<std::size_t>(most - seconds.begin()));
}

}  // namespace ardoise::reports
