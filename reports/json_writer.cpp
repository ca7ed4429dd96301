// The parts of the writer that do not depend on types; see json_writer.hpp.
#include "reports/json_writer.hpp"

#include <cmath>

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
    out_.append(std::string_view("null"));  // unknown
  } else if (v == 0) {
    out_.push_back('0');
  } else if (digits != 0) {
    fmt::format_to(std::back_inserter(out_), "{:.{}g}", v, digits);
  } else {
    fmt::format_to(std::back_inserter(out_), "{}", v);
  }
}

}  // namespace ardoise::reports
