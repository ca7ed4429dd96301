// The events of nlohmann's SAX parser, put into slots; see json_reader.hpp.
#include "reports/json_reader.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "reports/json_slots.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

constexpr std::size_t kMaxDepth = 64;  // plug-ins nest; nobody nests this deep without meaning harm

class Handler final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Handler(Run& run) : next_(slot_of(run)) {}

  bool null() override { return scalar({}); }
  bool boolean(bool v) override { return scalar({.kind = Scalar::Kind::boolean, .magnitude = v}); }
  bool number_integer(std::int64_t v) override {
    const auto bits = static_cast<std::uint64_t>(v);
    return scalar({.kind = Scalar::Kind::integer,
                   .negative = v < 0,
                   .magnitude = v < 0 ? 0 - bits : bits,
                   .real = static_cast<double>(v)});
  }
  bool number_unsigned(std::uint64_t v) override {
    return scalar({.kind = Scalar::Kind::integer, .magnitude = v, .real = static_cast<double>(v)});
  }
  bool number_float(double v, const std::string&) override { return scalar({.kind = Scalar::Kind::real, .real = v}); }
  bool string(std::string& v) override { return scalar({.kind = Scalar::Kind::string, .string = &v}); }
  bool binary(nlohmann::json::binary_t&) override { return false; }

  bool start_object(std::size_t) override { return begin(false); }
  bool key(std::string& v) override {
    Frame& frame = frames_.back();
    frame.key = v;
    next_ = frame.slot.ops != nullptr ? frame.slot.ops->member(frame.slot.object, v) : Slot{};
    return true;
  }
  bool end_object() override { return end(); }
  bool start_array(std::size_t) override { return begin(true); }
  bool end_array() override { return end(); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& why) override {
    const std::string_view text = why.what();
    const std::size_t colon = text.rfind("; ");  // "[json.exception…] parse error at …: syntax error …; last read: …"
    error_ = fmt::format("the JSON is broken at byte {}, in {} ({})", position, place(),
                         shortened(printable(colon == std::string_view::npos ? text : text.substr(colon + 2)), 80));
    return false;
  }

  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  struct Frame {
    Slot slot;
    bool array = false;
    std::size_t index = 0;  // of the element that comes next
    std::string key;
  };

  // The slot for the value that starts now.
  Slot take() {
    if (!frames_.empty() && frames_.back().array) {
      Frame& frame = frames_.back();
      ++frame.index;
      return frame.slot.ops != nullptr ? frame.slot.ops->element(frame.slot.object) : Slot{};
    }
    return next_;
  }

  bool scalar(const Scalar& value) {
    const Slot slot = take();
    if (slot.ops == nullptr) return true;
    if (slot.ops->assign != nullptr && slot.ops->assign(slot.object, value)) return true;
    return wrong(slot);
  }

  bool begin(bool array) {
    const Slot slot = take();
    if (slot.ops != nullptr) {
      const bool fits = array ? slot.ops->element != nullptr : slot.ops->member != nullptr;
      if (!fits) return wrong(slot);
      if (slot.ops->begin != nullptr) slot.ops->begin(slot.object, array);
    }
    if (frames_.size() >= kMaxDepth) {
      error_ = fmt::format("{} is nested more than {} levels deep", place(), kMaxDepth);
      return false;
    }
    frames_.push_back({slot, array, 0, {}});
    return true;
  }

  bool end() {
    frames_.pop_back();
    return true;
  }

  bool wrong(const Slot& slot) {
    error_ = fmt::format("{} must be {}", place(), slot.ops->expected);
    return false;
  }

  // Called for the value last taken.
  [[nodiscard]] std::string place() const {
    std::string path;
    for (const Frame& frame : frames_) {
      if (frame.array) {
        path += fmt::format("[{}]", frame.index == 0 ? 0 : frame.index - 1);
      } else if (!frame.key.empty()) {
        path += (path.empty() ? "" : ".") + shortened(printable(frame.key), 60);
      }
    }
    return path.empty() ? "the outermost value" : path;
  }

  std::vector<Frame> frames_;
  Slot next_;
  std::string error_;
};

}  // namespace

Outcome read_json(std::string_view text, Run& run) {
  Handler handler(run);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &handler)) return {};
  return {handler.error().empty() ? "the JSON is broken" : handler.error()};
}

}  // namespace ardoise::reports
