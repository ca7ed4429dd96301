// Sums in a vector sorted by key. The data of a thread's contexts is small, dense and lives for the whole run, so it is
// stored without pointers; a pack's records are summed in a scratch vector first and merged in one pass. An Entry has a
// `key` (ordered by <=>) and add(const Entry&) for one with an equal key.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

namespace ardoise::knowledge_sources {

// Sorts by key and sums entries with equal keys.
template <class Entry>
void sum_up(std::vector<Entry>& entries) {
  std::ranges::sort(entries, {}, &Entry::key);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (kept != 0 && entries[kept - 1].key == entries[i].key) {
      entries[kept - 1].add(entries[i]);
    } else {
      entries[kept++] = entries[i];
    }
  }
  entries.resize(kept);
}

template <class Entry>
[[nodiscard]] bool is_summed_up(const std::vector<Entry>& entries) {
  return std::ranges::adjacent_find(entries, std::greater_equal{}, &Entry::key) == entries.end();
}

// Both inputs are summed up.
template <class Entry>
void add_sums(std::vector<Entry>& into, const std::vector<Entry>& more) {
  std::size_t fresh = 0;
  auto place = into.begin();
  for (const Entry& entry : more) {
    place = std::lower_bound(place, into.end(), entry.key, [](const Entry& a, const auto& key) { return a.key < key; });
    if (place != into.end() && place->key == entry.key) {
      place->add(entry);
    } else {
      ++fresh;
    }
  }
  if (fresh == 0) return;
  // Exact size while small, so that a hundred thousand ranks with a few entries each waste nothing; grows by half
  // beyond.
  const std::size_t wanted = into.size() + fresh;
  if (wanted > into.capacity()) into.reserve(wanted < 64 ? wanted : wanted + wanted / 2);
  // From the back, so that each entry moves once. Entries added above are not new here.
  std::size_t from = into.size(), more_left = more.size();
  into.resize(wanted);
  for (std::size_t to = into.size(); fresh != 0; --to) {
    while (from != 0 && more_left != 0 && into[from - 1].key == more[more_left - 1].key) --more_left;
    if (more_left == 0 || (from != 0 && into[from - 1].key > more[more_left - 1].key)) {
      into[to - 1] = into[--from];
    } else {
      into[to - 1] = more[--more_left];
      --fresh;
    }
  }
}

}  // namespace ardoise::knowledge_sources
