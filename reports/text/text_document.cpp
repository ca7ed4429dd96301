#include "reports/text/text_document.hpp"

#include <fmt/format.h>

#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kTextWidth = 100;

std::string rule(const std::string& title) {
  std::string line = fmt::format("── {} ", shortened(printable(title), 40));
  for (std::size_t i = display_width(line); i < kTextWidth; ++i) line += "─";
  return line + "\n";
}

// Writes blocks with blank lines around tables and findings, and between paragraphs of different styles.
class TextWriter {
 public:
  TextWriter(std::string& out, std::string indent) : out_(out), indent_(std::move(indent)) {}

  void write(const Section& section) {
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
    for (const auto& [name, value] : list.facts) out_ += wrapped(plain(value), indent_ + name + ": ", kTextWidth);
  }
  void write(const FindingList& list) {
    begin("findings", true);
    for (const Finding& f : list.findings) {
      const char* mark = f.severity == Severity::high ? "!! " : f.severity == Severity::medium ? "!  " : "·  ";
      out_ += wrapped(f.advice.empty() ? f.text : f.text + " → " + f.advice, indent_ + mark, kTextWidth);
    }
    if (!list.rest.empty()) out_ += wrapped(list.rest, indent_ + "·  ", kTextWidth);
  }
  void write(const Table& table) {
    begin("table", true);
    if (!table.title.empty()) out_ += indent_ + shortened(printable(table.title), 90) + "\n";
    out_ += text_table(table, indent_);
  }
  void write(const Bullets& list) {
    begin("bullets", true);
    for (const Text& item : list.items) out_ += wrapped(plain(item), indent_ + "·  ", kTextWidth);
  }
  void write(const Figures&) {}  // text has none

  std::string& out_;
  std::string indent_, last_;
};

}  // namespace

std::string summary_text(const Document& document) {
  std::string out;
  TextWriter(out, "").write(document.cover);
  for (const Section& chapter : document.chapters) {
    std::string text;
    TextWriter(text, "  ").write(chapter);
    if (!text.empty()) out += "\n" + rule(chapter.title) + text;
  }
  return out;
}

}  // namespace ardoise::reports
