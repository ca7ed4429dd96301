#include "knowledge_sources/otf2/contents/trace_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <stdexcept>

#include "instrument/format/mark_name.hpp"
#include "instrument/settings/option.hpp"
#include "reports/text/joined.hpp"

namespace ardoise::knowledge_sources {
namespace {

struct TimeUnit {
  std::string_view name;
  double ns;
};
constexpr std::array<TimeUnit, 6> kTimeUnits{
    {{"", 1e9}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}}};
constexpr double kMostNs = 9e18;
constexpr std::string_view kItems =
    "ranks=, threads=, functions=, phases=, iterations=, from=, to=, min=, last=, limit=, keep= or attributes=";
constexpr std::uint64_t kLeastLimit = std::uint64_t{8} << 20;

std::optional<std::int64_t> parse_ns(std::string_view text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || !(number >= 0)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  for (const TimeUnit& unit : kTimeUnits) {
    if (unit.name == text && number * unit.ns < kMostNs) return static_cast<std::int64_t>(number * unit.ns);
  }
  return std::nullopt;
}

class SelectionReader {
 public:
  explicit SelectionReader(std::string_view text) : text_(text) {}

  // The next word before a comma; false at the end.
  bool next() {
    if (at_ > text_.size()) return false;
    begin_ = at_;
    const std::size_t comma = std::min(text_.find(',', at_), text_.size());
    word_ = text_.substr(at_, comma - at_);
    at_ = comma + 1;
    const std::size_t equals = word_.find('=');
    key_ = equals == std::string_view::npos ? std::string_view() : word_.substr(0, equals);
    value_ = equals == std::string_view::npos ? word_ : word_.substr(equals + 1);
    return true;
  }
  [[nodiscard]] bool has_key() const { return value_.size() != word_.size(); }
  [[nodiscard]] std::string_view key() const { return key_; }
  [[nodiscard]] std::string_view value() const { return value_; }
  [[nodiscard]] std::string_view word() const { return word_; }
  [[nodiscard]] bool is_first() const { return begin_ == 0; }

  [[noreturn]] void fail(std::string_view expected) const {
    const std::string_view rest = text_.substr(std::min(begin_, text_.size()), 30);
    throw std::invalid_argument(fmt::format("--trace \"{}\" cannot be read at {}: expected {}", text_,
                                            rest.empty() ? std::string("its end") : fmt::format("\"{}\"", rest),
                                            expected));
  }

 private:
  std::string_view text_, word_, key_, value_;
  std::size_t at_ = 0, begin_ = 0;
};

}  // namespace

TraceSelection::TraceSelection(std::string_view text) {
  constexpr std::array<std::string_view, 7> kLists = {"ranks",      "threads", "functions", "phases",
                                                      "iterations", "keep",    "attributes"};
  SelectionReader in(text);
  std::set<std::string_view> keys;
  std::string_view key;
  while (in.next()) {
    if (in.word() == "all" && in.is_first()) continue;
    if (in.has_key()) {
      key = in.key();
      if (!keys.insert(key).second) in.fail(fmt::format("\"{}=\" once", key));
      if (key == "functions") {
        functions_ = {};
        has_functions_ = true;
      }
    } else if (std::ranges::find(kLists, key) == kLists.end()) {
      in.fail(key.empty() ? fmt::format("all, or {}", kItems) : fmt::format("another item: {}", kItems));
    }
    if (key == "ranks" || key == "threads" || key == "iterations") {
      instrument::NumberRange range;
      const bool is_good = instrument::read_range(in.value(), range);
      if (key == "iterations") {
        if (!is_good || range.first == 0) in.fail("iterations of the main loop, from 1 on, as 37-40,100");
        iterations_.push_back(range);
        continue;
      }
      if (!is_good) in.fail(fmt::format("{}, as 0-3,8", key));
      (key == "ranks" ? ranks_ : threads_).push_back(range);
    } else if (key == "functions") {
      if (!functions_.add(in.value())) in.fail("a function of MPI or I/O, mpi or io");
    } else if (key == "phases" || key == "keep") {
      if (in.value().empty()) in.fail(key == "phases" ? "names of phases" : "names of snapshots");
      (key == "phases" ? phases_ : kept_names_).push_back(instrument::mark_name_id(in.value()));
    } else if (key == "from" || key == "to" || key == "min" || key == "last") {
      const auto ns = parse_ns(in.value());
      if (!ns || (key == "last" && *ns == 0)) in.fail("a duration, as 10s, 1.5m or 20us");
      (key == "from" ? from_ : key == "to" ? to_ : key == "min" ? least_ : last_) = *ns;
      if (from_ >= to_) in.fail("a time \"to\" after \"from\"");
    } else if (key == "limit") {
      const auto bytes = instrument::parse_size(in.value());
      if (!bytes || *bytes < kLeastLimit) in.fail("a size of 8M or more, as 100M or 2G");
      most_bytes_ = *bytes;
    } else if (key == "attributes") {
      if (in.value() == "all") {
        attributes_ = AttributeClasses::all();
      } else if (!attributes_.add(in.value())) {
        in.fail(fmt::format("attributes: all, {}", reports::joined(kAttributeClassNames, ", ")));
      }
    } else {
      in.fail(fmt::format("all, or {}", kItems));
    }
  }
  if (!kept_names_.empty() && last_ == 0)
    throw std::invalid_argument(fmt::format(
        "--trace \"{}\": keep= selects the snapshots around which last= keeps time, but last= is missing", text));
}

bool TraceSelection::has(const Ranges& ranges, std::uint32_t number) {
  return ranges.empty() || std::ranges::any_of(ranges, [number](const auto& range) { return range.contains(number); });
}

bool TraceSelection::is_in_windows(std::int64_t ns) const {
  return std::ranges::any_of(windows_, [ns](const auto& window) { return ns >= window.first && ns < window.second; });
}

bool TraceSelection::has_rank(std::uint32_t world_rank) const { return has(ranks_, world_rank); }
bool TraceSelection::has_thread(std::uint32_t number) const { return has(threads_, number); }

bool TraceSelection::has_iteration_in(std::uint64_t first, std::uint64_t last) const {
  return std::ranges::any_of(iterations_,
                             [&](const auto& range) { return range.first <= last && first <= range.last; });
}

}  // namespace ardoise::knowledge_sources
