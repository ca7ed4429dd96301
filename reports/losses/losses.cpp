#include "reports/losses/losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

namespace ardoise::reports {
namespace {

constexpr std::size_t kPlaces = 2;  // told of losses with one code

// Losses with the same code become one, told by the largest two. The others are counted.
std::vector<Loss> merged(std::vector<Loss> losses) {
  std::map<std::string, std::size_t> places;
  std::ranges::stable_sort(losses, std::ranges::greater{}, &Loss::ceiling);
  std::vector<Loss> result;
  for (Loss& loss : losses) {
    const auto same = std::ranges::find(result, loss.code, &Loss::code);
    if (same == result.end()) {
      places[loss.code] = 1;
      result.push_back(std::move(loss));
      continue;
    }
    // The region in which others work explains the threads that wait.
    if (same->bucket == Bucket::asleep && loss.bucket == Bucket::work) std::swap(same->text, loss.text);
    if (loss.ceiling > 0.1 * same->ceiling && same->text.find(loss.text) == std::string::npos &&
        ++places[loss.code] <= kPlaces)
      same->text += "; " + loss.text;
    same->is_usual = same->is_usual && loss.is_usual;
    same->ceiling += loss.ceiling;
    same->own_seconds += loss.own_seconds;
    if (same->ranks != loss.ranks) same->ranks.clear();
  }
  for (Loss& loss : result) {
    if (const std::size_t all = places[loss.code]; all > kPlaces)
      loss.text += fmt::format("; {} more, smaller, of this kind", all - kPlaces);
  }
  return result;
}

// A rank that takes the messages of all others also works on them alone: one loss.
void join_root(std::vector<Loss>& losses) {
  const auto root = std::ranges::find(losses, "hub.root", &Loss::code);
  if (root == losses.end()) return;
  for (auto it = losses.begin(); it != losses.end(); ++it) {
    if (it->code != "late.static" && it->code != "serial.rank") continue;
    if (it->ranks != root->ranks || it->ceiling > root->ceiling) continue;
    root->ceiling += it->ceiling;
    losses.erase(it);
    return;
  }
}

}  // namespace

std::vector<Loss> losses_of(const RunView& view) {
  std::vector<Loss> losses;
  if (!view.known) return losses;
  find_uneven_work(view, losses);
  find_costly_calls(view, losses);
  find_file_losses(view, losses);
  find_host_losses(view, losses);
  find_thread_losses(view, losses);
  losses = merged(std::move(losses));
  join_root(losses);
  double sum = 0;
  for (const Loss& loss : losses) sum += loss.ceiling;
  if (sum > view.run) {
    for (Loss& loss : losses) loss.ceiling *= view.run / sum;
  }
  find_hot_function(view, losses);
  std::ranges::stable_sort(losses, std::ranges::greater{}, &Loss::ceiling);
  return losses;
}

}  // namespace ardoise::reports
