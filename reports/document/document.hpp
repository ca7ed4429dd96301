// The report as a tree of sections with paragraphs, facts, findings, tables, figures and lists. Sections (sections.hpp)
// build it from the model; emitters (text/, latex/) only turn it into characters. A document refers to its Run, which
// must outlive it.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "reports/figures/figure.hpp"
#include "reports/findings/findings.hpp"

namespace ardoise::reports {

// Part of a text with one look. The text may come from a program: emitters make every character safe to show.
struct Span {
  enum class Look { plain, code, place, alarm };  // place: a source location, small; alarm: must not be overlooked
  std::string text;
  Look look = Look::plain;
};

struct Text {
  std::vector<Span> spans;
  Text() = default;
  Text(std::string plain) : spans{{std::move(plain), Span::Look::plain}} {}
  Text(const char* plain) : Text(std::string(plain)) {}
  Text(Span span) : spans{std::move(span)} {}
  Text(std::initializer_list<Span> list) : spans(list) {}
  [[nodiscard]] bool empty() const { return spans.empty(); }
};

[[nodiscard]] std::string plain(const Text& text);  // without looks

// A name, path or command; a text wider than `most_columns` loses its middle.
[[nodiscard]] Span code(const std::string& name, std::size_t most_columns = 60);
// A C++ name. If it is too long, its template arguments become <…> first.
[[nodiscard]] Span symbol(const std::string& name, std::size_t most_columns);
[[nodiscard]] std::string with_folded_templates(const std::string& name);
[[nodiscard]] Span place(const std::string& name, std::size_t most_columns = 120);

// A number in a table. count: shown with three digits above ten million.
enum class Unit { none, count, exact, seconds, bytes, share, ratio };
struct Number {
  double value = 0;
  Unit unit = Unit::none;
};
[[nodiscard]] std::string shown(const Number& number);  // "4.50 µs"; "" without a unit

struct Line {
  Text left{}, right{};  // at both ends of the line
};

// Lines of text, or a number, or empty.
struct Cell {
  std::vector<Line> lines;
  Number number;
  Cell() = default;
  Cell(Number n) : number(n) {}
  Cell(Text text) { lines.push_back({std::move(text), {}}); }
  Cell(Span span) : Cell(Text(std::move(span))) {}
  Cell(std::string text) : Cell(Text(std::move(text))) {}
  Cell(const char* text) : Cell(Text(text)) {}
  Cell(std::vector<Line> list) : lines(std::move(list)) {}
};

// A name and its source location, in one line of `width` columns or in two. `where` may be empty.
[[nodiscard]] Cell name_over_place(const std::string& name, const std::string& where, std::size_t width,
                                   std::size_t most_columns);

template <class T>
[[nodiscard]] Number count(T n) {
  return {static_cast<double>(n), Unit::count};
}
template <class T>
[[nodiscard]] Number exact(T n) {
  return {static_cast<double>(n), Unit::exact};
}
template <class T>
[[nodiscard]] Number bytes(T n) {
  return {static_cast<double>(n), Unit::bytes};
}
[[nodiscard]] inline Number seconds(double s) { return {s, Unit::seconds}; }
[[nodiscard]] inline Number share(double s) { return {s, Unit::share}; }
[[nodiscard]] inline Number ratio(double r) { return {r, Unit::ratio}; }

struct Column {
  Text heading;
  bool number = true;     // aligned right
  std::size_t width = 0;  // in characters; 0: as wide as its widest cell
  Column(Text head, bool is_number = true, std::size_t wide = 0)
      : heading(std::move(head)), number(is_number), width(wide) {}
  Column(const char* head) : heading(head) {}
};
// A column of text.
[[nodiscard]] inline Column left(const char* heading, std::size_t width) { return {heading, false, width}; }

struct Table {
  std::string title{};  // "": the section's title is enough
  std::vector<Column> columns{};
  std::vector<std::vector<Cell>> rows{};  // one cell for each column
};

struct Paragraph {
  enum class Style { normal, note, remark };  // note: how to read what follows; remark: beneath a table
  Text text{};
  Style style = Style::normal;
};

struct FactList {
  std::vector<std::pair<std::string, Text>> facts{};  // name, value
};

struct FindingList {
  std::vector<Finding> findings{};
  std::size_t further = 0;  // number of findings that are only shown elsewhere
};

// The finding with its code in front of its text, if it is a loss, and with the program's name, if there are several:
// "solver, late.static: Rank 3 works longer".
[[nodiscard]] Finding with_code(Finding finding, const std::string& program = "");
// The whole sentences of a text that fit into `most_columns`, at least the first one. A first sentence of more than
// twice that loses its middle.
[[nodiscard]] std::string first_sentences(const std::string& text, std::size_t most_columns);

struct Bullets {
  std::vector<Text> items{};
};

// Figures side by side, with the caption of the first.
using Figures = std::vector<Figure>;

using Block = std::variant<Paragraph, FactList, FindingList, Table, Bullets, Figures>;

inline constexpr unsigned kLastInSummary = 8;

struct Section {
  std::string title{};
  std::vector<Block> summary{};         // shown in the summary, as far as there is room
  std::vector<Block> blocks{};          // shown in the report; a section without blocks is omitted
  std::size_t together = 9;             // lines of the report to keep on one page with the title
  std::vector<std::string> left_out{};  // omitted figures and tables with the reason: "matrix (2 ranks)"
  std::string id{};                     // of a chapter: prefix of its files
  unsigned summary_order = 0;           // without room in the summary, those with the highest are left out first
  std::vector<Section> sections{};
};

struct Document {
  Section cover{};
  std::vector<Section> chapters{};
};

[[nodiscard]] inline Paragraph note(Text text) { return {std::move(text), Paragraph::Style::note}; }
[[nodiscard]] inline Paragraph remark(Text text) { return {std::move(text), Paragraph::Style::remark}; }
// Adds "More on these: ardoise explain late.static io.small", if findings of the list are losses.
void add_explained(std::vector<Block>& to, const FindingList& list);
// Adds "12 more call sites: ardoise show profile.json sites" below a table that was cut. `table` "": the command has no
// such table, the text is "12 more groups in profile.json."
void add_rest(std::vector<Block>& to, std::size_t all, std::size_t shown, const std::string& plural,
              const std::string& table = "");
// Adds the figure if it is not empty; the second form else adds `otherwise` to left_out.
void add_figure(std::vector<Block>& to, Figure figure);
void add_figure(Section& to, Figure figure, const std::string& otherwise);

}  // namespace ardoise::reports
