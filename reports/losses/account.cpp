#include "reports/losses/account.hpp"

#include <algorithm>
#include <cmath>

namespace ardoise::reports {
namespace {

std::int64_t ns(double seconds) { return std::llround(seconds * 1e9); }

// Distributes `all` in proportion to weights of losses; with a weight for what belongs to none. Sums are exact.
void distribute(std::int64_t all, const char* part, bool inferred,
                const std::vector<std::pair<std::string, double>>& weights, double unexplained,
                std::vector<AccountRow>& rows) {
  double sum = unexplained;
  for (const auto& [code, weight] : weights) sum += weight;
  std::int64_t left = all;
  for (const auto& [code, weight] : weights) {
    const std::int64_t share = sum > 0 ? std::min(left, ns(1e-9 * static_cast<double>(all) * weight / sum)) : 0;
    if (share <= 0) continue;
    rows.push_back({part, code, share, inferred});
    left -= share;
  }
  if (left > 0) rows.push_back({part, "", left, false});
}

struct Sums {
  std::int64_t work = 0, waiting = 0, mpi = 0, io = 0, processor = 0, asleep = 0, ends = 0;
};

Sums sums_of(const RunView& view, std::int64_t run) {
  const auto& waited = view.app.waiting.per_rank.waiting_seconds;
  Sums sums;
  for (std::size_t rank = 0; rank < view.times.size(); ++rank) {
    const RankTime& time = view.times[rank];
    std::int64_t left = run;
    const auto take = [&left](double seconds, std::int64_t& sum) {
      const std::int64_t part = std::clamp<std::int64_t>(ns(seconds), 0, left);
      sum += part;
      left -= part;
    };
    const double in_mpi = rank < waited.size() ? std::min(waited[rank], time.mpi) : 0;
    take(in_mpi, sums.waiting);
    take(time.mpi - in_mpi, sums.mpi);
    take(time.io, sums.io);
    take(time.waiting, sums.processor);
    take(time.blocked, sums.asleep);
    take(static_cast<double>(run) * 1e-9 - time.wall, sums.ends);
    sums.work += left;
  }
  return sums;
}

}  // namespace

Account account_of(const RunView& view, const std::vector<Loss>& losses) {
  Account account;
  if (view.times.empty() || !(view.run > 0)) return account;
  const std::int64_t run = ns(view.run);
  account.nanoseconds = run * static_cast<std::int64_t>(view.times.size());
  const Sums sums = sums_of(view, run);
  using Weights = std::vector<std::pair<std::string, double>>;
  const auto own = [&](Bucket bucket) {
    Weights weights;
    for (const Loss& loss : losses) {
      if (loss.bucket == bucket && loss.own_seconds > 0) weights.emplace_back(loss.code, loss.own_seconds);
    }
    return weights;
  };
  // The part that the weights leave belongs to no loss.
  const auto rest = [](std::int64_t all, const Weights& weights) {
    double left = 1e-9 * static_cast<double>(all);
    for (const auto& [code, weight] : weights) left -= weight;
    return std::max(0.0, left);
  };
  const auto add_own = [&](std::int64_t all, const char* part, Bucket bucket) {
    const Weights weights = own(bucket);
    distribute(all, part, false, weights, rest(all, weights), account.rows);
  };
  Weights work = own(Bucket::work);
  const Weights in_kernel = own(Bucket::kernel);
  work.insert(work.end(), in_kernel.begin(), in_kernel.end());
  distribute(sums.work, "work", true, work, rest(sums.work, work), account.rows);
  Weights waits;
  for (const Loss& loss : losses) {
    const double others = view.app.ranks * loss.ceiling - (loss.bucket == Bucket::work ? 0 : loss.own_seconds);
    if (others > 0 && !loss.code.starts_with("thr.") && !loss.code.starts_with("mem."))
      waits.emplace_back(loss.code, others);
  }
  distribute(sums.waiting, "waiting", true, waits, rest(sums.waiting, waits), account.rows);
  add_own(sums.mpi, "mpi", Bucket::transfer);
  add_own(sums.io, "io", Bucket::io);
  add_own(sums.processor, "processor", Bucket::processor);
  add_own(sums.asleep, "asleep", Bucket::asleep);
  if (sums.ends > 0) account.rows.push_back({"ends", "", sums.ends, false});
  return account;
}

}  // namespace ardoise::reports
