// Ranks that test for messages again and again.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/losses/costly_calls.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/losses/words.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kMoreWork = 0.1;  // work of a rank beyond the mean ÷ mean: not noise

// Giving up the processor between two tests is no work.
bool is_work(const SampledFunction& f) { return is_code(f) && f.symbol != "(kernel)"; }

// The ranks test while the one with most work still does it: that part of the testing is late.static. Returns its
// seconds; `own`: those of the calls themselves.
double for_late_rank(const CostlyCalls& c, const PathCall& most, double own) {
  constexpr double kOfThePolling = 0.3;
  const SampledFunction* longest = nullptr;
  const auto more = [](const SampledFunction& f) { return f.rank_max - f.rank_mean; };
  for (const SampledFunction& f : c.app.samples.functions) {
    if (is_work(f) && f.symbol != most.part->symbol && (longest == nullptr || more(f) > more(*longest))) longest = &f;
  }
  if (longest == nullptr || more(*longest) < kOfThePolling * c.view.polling ||
      more(*longest) < kMoreWork * longest->rank_mean)
    return 0;
  const double seconds = std::min(c.view.polling, more(*longest));
  const double part = seconds / c.view.polling;
  c.out.push_back(
      {.code = "late.static",
       .ceiling = seconds,
       .own_seconds = own * part,
       .bucket = Bucket::transfer,
       .text = fmt::format(
           "{} works longer than the others: {} of CPU time in {}, the mean is {}; the others test for its messages: "
           "{}",
           capitalised(ranks_in_words(c.app, {longest->max_rank})), human_seconds(longest->rank_max),
           in_sentence(
               name_and_place(c.app.samples, static_cast<std::size_t>(longest - c.app.samples.functions.data()))),
           human_seconds(longest->rank_mean), c.calls_in_words(most)),
       .ranks = {longest->max_rank}});
  return seconds;
}

// The function with most work that one rank does nearly alone; nullptr: none.
const SampledFunction* work_of_one_rank(const CostlyCalls& c) {
  const SampledFunction* best = nullptr;
  for (const SampledFunction& f : c.app.samples.functions) {
    const bool alone = is_work(f) && f.rank_max > kOfOneRank * f.rank_mean * c.app.ranks;
    if (alone && (best == nullptr || f.rank_max > best->rank_max)) best = &f;
  }
  return best != nullptr && best->rank_max > 0.3 * c.view.polling ? best : nullptr;
}

}  // namespace

void name_polling(const CostlyCalls& c) {
  if (c.view.polled_sites.empty() || c.view.share(c.view.polling) < kMeaningful) return;
  const PathCall& most = c.view.calls[c.view.polled_sites.front()];
  double own = 0;
  for (const std::uint32_t i : c.view.polled_sites) own += c.view.calls[i].wait_free;
  std::string text = fmt::format("Ranks test for messages again and again: {}", c.calls_in_words(most));
  // Testing is waiting: for a rank that works meanwhile, if there is one.
  const SampledFunction* const alone = work_of_one_rank(c);
  const double for_late = alone == nullptr ? for_late_rank(c, most, own) : 0;
  if (alone != nullptr)
    text = fmt::format(
        "{} works alone in {}, and the others test for its messages: {}",
        capitalised(ranks_in_words(c.app, {alone->max_rank})),
        in_sentence(name_and_place(c.app.samples, static_cast<std::size_t>(alone - c.app.samples.functions.data()))),
        c.calls_in_words(most));
  c.out.push_back({.code = alone != nullptr ? "serial.rank" : "poll.busy",
                   .ceiling = c.view.polling - for_late,
                   .own_seconds = own * (1 - for_late / c.view.polling),
                   .bucket = Bucket::transfer,
                   .text = std::move(text),
                   .ranks = alone != nullptr ? std::vector{alone->max_rank} : std::vector<std::uint32_t>{}});
}

}  // namespace ardoise::reports
