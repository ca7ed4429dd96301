#include "reports/text/text_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kTextWidth = 100, kMostRows = 6;

std::string rule(const std::string& title) {
  std::string line = fmt::format("── {} ", shortened(printable(title), 40));
  for (std::size_t i = display_width(line); i < kTextWidth; ++i) line += "─";
  return line + "\n";
}

// How much of the summary is shown.
struct Room {
  std::size_t notes = 3, findings = 3, rows = kMostRows;  // at most; rows of a table
  unsigned order = 0;                                     // of sections, the highest
  std::size_t chapters = SIZE_MAX;
};

// Writes blocks with blank lines around tables and findings, and between paragraphs of different styles.
class TextWriter {
 public:
  TextWriter(std::string& out, std::string indent, const Room& room)
      : out_(out), indent_(std::move(indent)), room_(room) {}

  void write(const Section& section) {
    if (section.summary_order > room_.order) return;
    for (const Block& block : section.summary) std::visit([this](const auto& b) { write(b); }, block);
    for (const Section& part : section.sections) write(part);
  }

 private:
  // Adds a blank line before the next block if needed; `alone`: blank lines on both sides.
  void begin(const std::string& kind, bool alone) {
    if (!last_.empty() && (alone || last_ != kind)) out_ += "\n";
    last_ = kind;
  }

  void write(const Paragraph& p) {
    if (p.style == Paragraph::Style::remark) {  // part of what is above it
      out_ += wrapped(plain(p.text), indent_, kTextWidth);
      return;
    }
    begin(p.style == Paragraph::Style::note ? "note" : "paragraph", false);
    out_ += wrapped(plain(p.text), indent_, kTextWidth);
  }
  void write(const FactList& list) {
    const std::size_t shown = std::min(list.facts.size(), room_.notes);
    for (std::size_t i = 0; i < shown; ++i)
      out_ += wrapped(plain(list.facts[i].second), indent_ + list.facts[i].first + ": ", kTextWidth);
    if (const std::size_t rest = list.facts.size() - shown; rest != 0)
      out_ += indent_ + counted(rest, "more note", "is", "are") + " in profile.json and the report.\n";
  }
  void write(const FindingList& list) {
    begin("findings", true);
    const std::size_t shown = std::min(list.findings.size(), room_.findings);
    for (std::size_t i = 0; i < shown; ++i) {
      const Finding& f = list.findings[i];
      const char* mark = f.severity == Severity::high ? "!! " : f.severity == Severity::medium ? "!  " : "·  ";
      out_ += wrapped(f.advice.empty() ? f.text : f.text + " → " + f.advice, indent_ + mark, kTextWidth);
    }
    if (const std::size_t rest = list.findings.size() - shown + list.further; rest != 0)
      out_ += indent_ + "·  " + counted(rest, "more finding", "is", "are") + " in profile.json and the report.\n";
  }
  void write(const Table& table) {
    begin("table", true);
    if (!table.title.empty()) out_ += indent_ + shortened(printable(table.title), 90) + "\n";
    Table shown = table;
    shown.rows.resize(std::min(shown.rows.size(), room_.rows));
    out_ += text_table(shown, indent_);
  }
  void write(const Bullets& list) {
    begin("bullets", true);
    for (const Text& item : list.items) out_ += wrapped(plain(item), indent_ + "·  ", kTextWidth);
  }
  void write(const Figures&) {}  // text has none

  std::string& out_;
  std::string indent_, last_;
  const Room& room_;
};

std::string summary_in(const Document& document, const Room& room) {
  std::string out;
  Room of_cover = room;
  of_cover.rows = SIZE_MAX;  // its table has a line for each program
  TextWriter(out, "", of_cover).write(document.cover);
  for (std::size_t i = 0; i < std::min(room.chapters, document.chapters.size()); ++i) {
    std::string text;
    TextWriter(text, "  ", room).write(document.chapters[i]);
    if (!text.empty()) out += "\n" + rule(document.chapters[i].title) + text;
  }
  return out;
}

// From the most to the least that may be shown.
std::vector<Room> rooms_for(const Document& document) {
  constexpr std::size_t kLeastRows = 3, kChapter = 3;  // lines of a chapter at least
  std::vector<Room> rooms;
  Room room;
  for (room.order = document.chapters.size() * kChapter < kSummaryLines ? kLastInSummary : 0;; --room.order) {
    for (room.rows = kMostRows; room.rows >= kLeastRows; --room.rows) rooms.push_back(room);
    if (room.order == 0) break;
  }
  room.rows = 2;
  if (document.chapters.size() > 2) room.chapters = 0;  // the last one is on the measurement
  rooms.push_back(room);
  room.notes = 1;
  rooms.push_back(room);
  for (room.findings = 2; room.findings != 0; --room.findings) rooms.push_back(room);
  return rooms;
}

}  // namespace

std::string summary_text(const Document& document) {
  std::string out;
  for (const Room& room : rooms_for(document)) {
    out = summary_in(document, room);
    if (std::ranges::count(out, '\n') <= static_cast<std::ptrdiff_t>(kSummaryLines)) break;
  }
  return out;
}

}  // namespace ardoise::reports
