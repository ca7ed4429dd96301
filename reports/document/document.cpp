#include "reports/document/document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/losses/loss.hpp"
#include "reports/text/joined.hpp"
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

std::string with_folded_templates(const std::string& name) {
  std::string out;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (depth == 0 && name.compare(i, 8, "operator") == 0) {  // brackets of operators are part of the name
      const std::size_t end = std::max(i + 8, name.find_first_not_of("<>=-", i + 8));
      if (end == std::string::npos) return out + name.substr(i);
      out += name.substr(i, end - i);
      i = end - 1;
    } else if (c == '<') {
      if (depth++ == 0) out += "<…>";
    } else if (c == '>' && depth != 0 && name[i - 1] != '-') {
      --depth;
    } else if (depth == 0) {
      out += c;
    }
  }
  return depth == 0 ? out : name;  // unbalanced: not the name of a function
}

Span symbol(const std::string& name, std::size_t most_columns) {
  return code(display_width(printable(name)) <= most_columns ? name : with_folded_templates(name), most_columns);
}

Cell name_over_place(const std::string& name, const std::string& where, std::size_t width, std::size_t most_columns) {
  if (name.empty()) return place(where);
  if (where.empty()) return symbol(name, most_columns);
  Span above = symbol(name, most_columns), below = place(where);
  if (display_width(above.text) + display_width(below.text) + 1 <= width)
    return Text{std::move(above), {" "}, std::move(below)};
  return std::vector<Line>{{std::move(above), {}}, {std::move(below), {}}};
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

Finding with_code(Finding finding, const std::string& program) {
  std::string front = program;
  if (find_loss_code(finding.id) != nullptr) front += (front.empty() ? "" : ", ") + finding.id;
  if (!front.empty()) finding.text = front + ": " + finding.text;
  return finding;
}

std::string first_sentences(const std::string& text, std::size_t most_columns) {
  const std::string clean = printable(text);
  if (display_width(clean) <= most_columns) return clean;
  std::size_t end = 0;
  for (std::size_t next = clean.find(". "); next != std::string::npos; next = clean.find(". ", next + 1)) {
    if (end != 0 && display_width(clean.substr(0, next + 1)) > most_columns) break;
    end = next + 1;
  }
  return shortened(end == 0 ? clean : clean.substr(0, end), 2 * most_columns);
}

void add_explained(std::vector<Block>& to, const FindingList& list) {
  std::vector<std::string> codes;
  for (const Finding& finding : list.findings) {
    if (find_loss_code(finding.id) != nullptr && std::ranges::count(codes, finding.id) == 0)
      codes.push_back(finding.id);
  }
  if (!codes.empty()) to.push_back(remark("More on these: ardoise explain " + joined(codes, " ")));
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

void add_figure(Section& to, Figure figure, const std::string& otherwise) {
  if (!figure) return to.left_out.push_back(otherwise);
  add_figure(to.blocks, std::move(figure));
}

}  // namespace ardoise::reports
