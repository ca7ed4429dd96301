// The parts of the writer that depend on no type; see json_writer.hpp.
#include "reports/json_writer.hpp"

#include <cmath>

#include "reports/text/utf8.hpp"

namespace ardoise::reports {

void JsonWriter::flush() {
  sink_({out_.data(), out_.size()});
  out_.clear();
}

void JsonWriter::separator() {
  if (!first_) out_.push_back(',');
  first_ = false;
  if (!one_line_) fmt::format_to(std::back_inserter(out_), "\n{:{}}", "", depth_);
}

void JsonWriter::number(double v, int digits) {
  if (!std::isfinite(v)) {
    out_.append(std::string_view("null"));  // JSON has no other word for "not known"
  } else if (v == 0) {
    out_.push_back('0');
  } else if (digits != 0) {
    fmt::format_to(std::back_inserter(out_), "{:.{}g}", v, digits);
  } else {
    fmt::format_to(std::back_inserter(out_), "{}", v);
  }
}

void JsonWriter::text(std::string_view s) {
  out_.push_back('"');
  for (std::size_t at = 0; at < s.size();) {
    const auto byte = static_cast<unsigned char>(s[at]);
    if (byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\') {
      out_.push_back(s[at++]);
      continue;
    }
    const char32_t c = next_code_point(s, at);
    if (c == '"' || c == '\\') {
      out_.push_back('\\');
      out_.push_back(static_cast<char>(c));
    } else if (c == '\n') {
      out_.append(std::string_view("\\n"));
    } else if (c == '\t') {
      out_.append(std::string_view("\\t"));
    } else if (c < 0x20 || c == 0x7F) {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      std::string utf8;
      append_utf8(utf8, c);
      out_.append(utf8.data(), utf8.data() + utf8.size());
    }
  }
  out_.push_back('"');
}

}  // namespace ardoise::reports
