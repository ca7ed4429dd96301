// Tables and wrapped lines; see text_document.hpp.
#include <algorithm>

#include "reports/text/text_document.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kMostOfValue = 40;  // columns, where a table sets no width

void pad(std::string& line, std::size_t blanks) { line.append(blanks, ' '); }

void end_line(std::string& out) {
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

std::string plain(const Cell& cell) {
  std::string out = shown(cell.number);
  for (const Line& line : cell.lines) {
    out += (out.empty() ? "" : ", ") + plain(line.left);
    if (!line.right.empty()) out += " " + plain(line.right);
  }
  return out;
}

}  // namespace

std::string text_table(const Table& table, const std::string& indent) {
  const std::vector<Column>& columns = table.columns;
  std::vector<std::vector<std::string>> cells{{}};
  for (const Column& c : columns) cells[0].push_back(printable(plain(c.heading)));
  for (const auto& row : table.rows) {
    cells.emplace_back();
    for (std::size_t c = 0; c < columns.size(); ++c) cells.back().push_back(printable(plain(row[c])));
  }
  for (auto& row : cells) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      row[c] = shortened(row[c], columns[c].width != 0 ? columns[c].width : kMostOfValue);
    }
  }
  std::vector<std::size_t> width(columns.size(), 0);
  for (const auto& row : cells) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], display_width(row[c]));
  }
  std::string out;
  for (const auto& row : cells) {
    out += indent;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c != 0) out += "  ";
      const std::size_t blanks = width[c] - display_width(row[c]);
      if (columns[c].number) pad(out, blanks);
      out += row[c];
      if (!columns[c].number) pad(out, blanks);
    }
    end_line(out);
  }
  return out;
}

std::string wrapped(const std::string& text, const std::string& first, std::size_t width) {
  const std::string clean = printable(text);
  const std::size_t indent = display_width(first), room = width > indent + 10 ? width - indent : 10;
  std::string out = first;
  std::size_t used = 0;
  const auto new_line = [&] {
    end_line(out);
    pad(out, indent);
    used = 0;
  };
  for (std::size_t at = 0; at < clean.size();) {
    const std::size_t end = std::min(clean.find(' ', at), clean.size());
    const std::string word = clean.substr(at, end - at);
    at = end + 1;
    const std::size_t length = display_width(word);
    if (used != 0 && used + 1 + length > room) new_line();
    if (used != 0) {
      out += ' ';
      ++used;
    }
    if (length <= room) {
      out += word;
      used += length;
      continue;
    }
    for (std::size_t i = 0; i < word.size();) {
      std::string letter;
      append_utf8(letter, next_code_point(word, i));
      if (used + display_width(letter) > room) new_line();
      out += letter;
      used += display_width(letter);
    }
  }
  end_line(out);
  return out;
}

}  // namespace ardoise::reports
