// See document.hpp.
#include "reports/document/document.hpp"

#include <fmt/format.h>

#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

std::string plain(const Text& text) {
  std::string out;
  for (const Span& span : text.spans) out += span.text;
  return out;
}

Span code(const std::string& name, std::size_t most_columns) {
  return {shortened(printable(name), most_columns), Span::Look::code};
}

Span place(const std::string& name, std::size_t most_columns) {
  return {shortened(printable(name), most_columns), Span::Look::place};
}

std::string shown(const Number& number) {
  switch (number.unit) {
    case Unit::exact:
      return with_separators(static_cast<std::uint64_t>(number.value));
    case Unit::seconds:
      return human_seconds(number.value);
    case Unit::bytes:
      return human_bytes(number.value);
    case Unit::share:
      return human_share(number.value);
    case Unit::ratio:
      return fmt::format("{:.2f}", number.value);
    case Unit::count:
      return human_count(number.value);
    case Unit::none:
      break;
  }
  return {};
}

FindingList first_of(std::vector<Finding> findings, std::size_t most, const char* where_the_rest_is) {
  FindingList list{std::move(findings), ""};
  if (list.findings.size() <= most) return list;
  list.rest = fmt::format("{} more in the {}.", list.findings.size() - most, where_the_rest_is);
  list.findings.resize(most);
  return list;
}

void add_rest(std::vector<Block>& to, std::size_t all, std::size_t shown, const std::string& plural,
              const std::string& table) {
  if (all <= shown) return;
  const std::string more = fmt::format("{} more {}", with_separators(all - shown), plural);
  if (table.empty()) return to.push_back(remark(more + " in profile.json."));
  to.push_back(remark({{more + ": "}, code("ardoise show profile.json " + table)}));
}

void add_figure(std::vector<Block>& to, Figure figure) {
  if (figure) to.push_back(Figures{std::move(figure)});
}

}  // namespace ardoise::reports
