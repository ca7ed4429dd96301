#include "reports/latex/latex_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/latex/latex_text.hpp"
#include "reports/text/units.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

constexpr double kCharacter = 1.5;  // mm: width of a typewriter character in tables

std::string latex_of(const Text& text) {
  std::string out;
  for (const Span& span : text.spans) {
    switch (span.look) {
      case Span::Look::plain:
        out += latex(span.text);
        break;
      case Span::Look::code:
        out += latex_code(span.text);
        break;
      case Span::Look::place:
        out += "{\\footnotesize\\color{note}" + latex_code(span.text) + "}";
        break;
      case Span::Look::alarm:
        out += "\\textcolor{high}{\\bfseries " + latex(span.text) + "}";
        break;
    }
  }
  return out;
}

std::string latex_of(const Cell& cell) {
  std::string out = latex(shown(cell.number));
  for (const Line& line : cell.lines) {
    out += (out.empty() ? "" : "\\newline ") + latex_of(line.left);
    if (!line.right.empty()) out += "\\hfill " + latex_of(line.right);
  }
  return out;
}

// A heading with its PDF bookmark.
std::string heading(const std::string& title, std::size_t most_columns) {
  const std::string text = shortened(printable(title), most_columns);
  return fmt::format("{{\\texorpdfstring{{{}}}{{{}}}}}", latex(text), latex_bookmark(title));
}

// Lines to keep on one page with a section's title; a figure at the beginning is kept as a whole.
std::size_t lines_together(const Section& section) {
  constexpr double kLine = 12, kPage = 465, kTitle = 5;  // points, points, lines with the caption
  // Up to three rows of a table stay with its head and the title.
  if (const auto* table = std::get_if<Table>(&section.blocks.front()))
    return std::max<std::size_t>(section.together, 8 + std::min<std::size_t>(table->rows.size(), 3));
  const auto* figures = std::get_if<Figures>(&section.blocks.front());
  if (figures == nullptr) return section.together;
  const Figure& f = figures->front();
  return static_cast<std::size_t>(f.page_share * kPage / f.width * f.height / kLine + kTitle);
}

class LatexWriter {
 public:
  LatexWriter(std::string& out, FigureFolder& figures) : out_(out), figures_(figures) {}

  void write_blocks(const Section& section) {
    for (const Block& block : section.blocks) std::visit([this](const auto& b) { write(b); }, block);
  }
  void write_section(const Section& section) {
    if (!section.blocks.empty()) {
      if (const std::size_t lines = lines_together(section); lines != 0) out_ += fmt::format("\\need{{{}}}", lines);
      if (!section.title.empty()) out_ += "\\section" + heading(section.title, 200) + "\n";
      write_blocks(section);
    }
    for (const Section& part : section.sections) write_section(part);
  }

 private:
  void write(const Paragraph& p) {
    const char* look = p.style == Paragraph::Style::note     ? "\\small "
                       : p.style == Paragraph::Style::remark ? "\\small\\itshape "
                                                             : "";
    out_ += fmt::format("{{{}{}}}\\par\n", look, latex_of(p.text));
  }
  void write(const FactList& list) {
    out_ += "{\\small\\begin{tabular}{@{}L{32mm}L{\\dimexpr\\linewidth-32mm-4\\tabcolsep}@{}}\n";
    for (const auto& [name, value] : list.facts)
      out_ += fmt::format("\\fact{{{}}}{{{}}}\n", latex(name), latex_of(value));
    out_ += "\\end{tabular}}\\par\\vspace{3mm}\n";
  }
  void write(const FindingList& list) {
    for (const Finding& f : list.findings)
      out_ += fmt::format("\\finding{{{}}}{{{}}}{{{}}}\n", to_string(f.severity), latex(f.text), latex(f.advice));
    if (list.further != 0) {
      out_ += fmt::format("\\finding{{note}}{{{} on the following pages.}}{{}}\n",
                          counted(list.further, "more finding", "is", "are"));
    }
  }
  void write(const Table& table) {  // may span pages
    if (!table.title.empty())
      out_ += fmt::format("\\need{{5}}{{\\small {}}}\\par\\nopagebreak\n", latex(shortened(printable(table.title), 200)));
    std::string spec, heads;
    for (const Column& c : table.columns) {
      spec += c.width == 0
                  ? (c.number ? "r" : "l")
                  : fmt::format("{}{{{:.1f}mm}}", c.number ? 'R' : 'L', kCharacter * static_cast<double>(c.width));
      heads += (heads.empty() ? "\\head{" : "&\\head{") + latex_of(c.heading) + "}";
    }
    out_ += "{\\small\\begin{longtable}{@{\\extracolsep{\\fill}}" + spec + "@{}}\n\\toprule " + heads +
            "\\\\ \\midrule\\endhead\\bottomrule\\endfoot\n";
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto& row = table.rows[r];
      for (std::size_t i = 0; i < row.size(); ++i) out_ += (i == 0 ? "" : "&") + latex_of(row[i]);
      // Neither the first nor the last row is alone on a page.
      out_ += r == 0 || r + 2 == table.rows.size() ? "\\\\*\n" : "\\\\\n";
    }
    out_ += "\\end{longtable}}\n";
  }
  void write(const Bullets& list) {
    out_ += "\\begin{itemize}\\setlength\\itemsep{0pt}\n";
    for (const Text& item : list.items) out_ += "\\item " + latex_of(item) + "\n";
    out_ += "\\end{itemize}\n";
  }
  void write(const Figures& figures) {
    out_ += "\\begin{figurehere}";
    for (const Figure& f : figures) {
      out_ += fmt::format("{}\\includegraphics[width={:.2f}\\linewidth]{{figures/{}}}",
                          &f == &figures.front() ? "" : "\\hfill", f.page_share, draw_pdf(f, figures_));
    }
    out_ += fmt::format("\\captionof{{figure}}{{{}}}\\end{{figurehere}}\n", latex(figures.front().caption));
  }

  std::string& out_;
  FigureFolder& figures_;
};

constexpr const char* kBanner =
    "\\thispagestyle{empty}\\noindent\\colorbox{slate}{\\begin{minipage}{\\dimexpr\\linewidth-2\\fboxsep}\\vspace{7mm}"
    "\\hspace*{4mm}{\\sffamily\\bfseries\\Huge\\color{white}Ardoise}\\hfill{\\sffamily\\color{white}performance report}"
    "\\hspace*{4mm}\\vspace{6mm}\\end{minipage}}\n\\par\\vspace{3mm}\n";
// Only for a long report. The second run of LaTeX knows the number of pages.
constexpr const char* kContents =
    "\\makeatletter\\newcount\\pages\\ifdefined\\reportpages\\pages=\\reportpages\\relax\\fi\n"
    "\\ifnum\\pages>15 "
    "\\par\\vspace{4mm}\\need{6}{\\sffamily\\bfseries\\large\\color{slate}Contents}\\par\\@starttoc{toc}"
    "\\else\\setbox0\\vbox{\\@starttoc{toc}}\\fi\\makeatother\n";
constexpr const char* kEnd =
    "\\makeatletter\\immediate\\write\\@auxout{\\string\\gdef\\string\\reportpages{\\thepage}}\\makeatother\n\\end{"
    "document}\n";

}  // namespace

std::string latex_document(const Document& document, FigureFolder& figures) {
  std::string out = latex_preamble();
  LatexWriter writer(out, figures);
  out += kBanner;
  writer.write_blocks(document.cover);
  out += kContents;
  if (!document.chapters.empty()) out += "\\clearpage\n";
  for (const Section& chapter : document.chapters) {
    figures.prefix = chapter.id + "_";
    const std::string mark = latex(shortened(printable(chapter.title), 48));
    out += "\\need{14}\\chapter" + heading(chapter.title, 48) + fmt::format("\\markboth{{{}}}{{{}}}\n", mark, mark);
    for (const Section& section : chapter.sections) writer.write_section(section);
  }
  return out + kEnd;
}

}  // namespace ardoise::reports
