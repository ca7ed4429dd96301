#include "reports/losses/losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace ardoise::reports {
namespace {

constexpr std::size_t kPlaces = 2;  // told of losses with one code

std::string uncapitalised(std::string text) {
  const auto is_small = [](char letter) { return letter >= 'a' && letter <= 'z'; };
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && is_small(text[1]))
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

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
    const bool says_more = loss.code != "late.noise";  // several rules find it, of the same waits
    if (says_more && loss.ceiling > 0.1 * same->ceiling && same->text.find(loss.text) == std::string::npos &&
        ++places[loss.code] <= kPlaces)
      same->text += "; " + uncapitalised(loss.text);
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

// One cause that two rules find, in the work of a rank and in the calls of the others: the first takes the second's
// ceiling, if it is the larger one of the same ranks.
void join(std::vector<Loss>& losses, std::string_view code, std::string_view other) {
  const auto first = std::ranges::find(losses, code, &Loss::code);
  const auto second = std::ranges::find(losses, other, &Loss::code);
  if (first == losses.end() || second == losses.end()) return;
  if (first->ranks.size() != 1 || first->ranks != second->ranks || second->ceiling > first->ceiling) return;
  first->ceiling += second->ceiling;
  losses.erase(second);
}

// Ranks are late by chance, or always: the larger loss is said.
void keep_larger(std::vector<Loss>& losses, std::string_view code, std::string_view other) {
  const auto first = std::ranges::find(losses, code, &Loss::code),
             second = std::ranges::find(losses, other, &Loss::code);
  if (first == losses.end() || second == losses.end()) return;
  losses.erase(first->ceiling < second->ceiling ? first : second);
}

// A pipeline of small messages: larger blocks make fewer calls, smaller ones fill it earlier. The larger loss keeps its
// remedy.
void weigh_blocks(std::vector<Loss>& losses) {
  const auto fill = std::ranges::find(losses, "chain.fill", &Loss::code);
  if (fill == losses.end()) return;
  for (Loss& small : losses) {
    if (small.code != "ovh.tiny" && small.code != "chain.grain") continue;
    const bool more_fill = fill->ceiling > small.ceiling;
    Loss& lesser = more_fill ? small : *fill;
    lesser.advice = fmt::format("The size of a block decides between this and {}, which costs more: try several sizes.",
                                more_fill ? fill->code : small.code);
  }
}

}  // namespace

std::vector<Loss> losses_of(const RunView& view) {
  std::vector<Loss> losses;
  if (!view.known) return losses;
  const PythonObjects objects(view);
  if (view.waits_known) find_uneven_work(view, objects, losses);
  find_costly_calls(view, objects, losses);
  find_object_losses(objects, losses);
  find_file_losses(view, losses);
  find_host_losses(view, losses);
  find_sleep(view, losses);
  find_thread_losses(view, losses);
  find_library_losses(view, losses);
  find_growing_work(view, losses);
  losses = merged(std::move(losses));
  join(losses, "hub.root", "late.static");
  join(losses, "hub.root", "serial.rank");
  join(losses, "serial.rank", "late.static");
  keep_larger(losses, "late.noise", "late.static");
  weigh_blocks(losses);
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
