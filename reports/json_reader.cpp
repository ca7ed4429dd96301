// Assigns the events of nlohmann's SAX parser to slots; see json_reader.hpp.
#include "reports/json_reader.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/model_fields.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDepth = 64;  // more than any plug-in nests

struct SlotOps;

// The target of the next JSON value: an object in the model and how to fill it. Without ops the value is skipped.
struct Slot {
  void* object = nullptr;
  const SlotOps* ops = nullptr;
};

// How to assign values to one type of the model. A null function: such a value is an error.
struct SlotOps {
  const char* expected;                                  // "an integer from 0 to 2^32-1"
  bool (*assign)(void* object, Json& scalar) = nullptr;  // false: type or range is wrong
  void (*begin)(void* object, bool array) = nullptr;     // before the first element or member
  Slot (*member)(void* object, const std::string& key) = nullptr;
  Slot (*element)(void* object) = nullptr;
};

template <class T>
Slot slot_of(T& object);

template <class T>
bool assign_number(void* object, Json& scalar) {
  T& to = *static_cast<T*>(object);
  if constexpr (std::is_same_v<T, bool>) {
    if (scalar.is_boolean()) to = scalar.get<bool>();
    return scalar.is_boolean();
  } else if constexpr (std::is_floating_point_v<T>) {
    // null: an unknown number
    to = scalar.is_number() ? static_cast<T>(scalar.get<double>()) : T{0};
    return scalar.is_number() || scalar.is_null();
  } else if constexpr (std::is_signed_v<T>) {
    const bool fits = scalar.is_number_integer() && (!scalar.is_number_unsigned() || scalar.get<std::int64_t>() >= 0) &&
                      scalar.get<std::int64_t>() >= std::numeric_limits<T>::min() &&
                      scalar.get<std::int64_t>() <= std::numeric_limits<T>::max();
    to = fits ? static_cast<T>(scalar.get<std::int64_t>()) : T{0};
    return fits;
  } else {
    const bool natural = scalar.is_number_unsigned() || (scalar.is_number_integer() && scalar.get<std::int64_t>() >= 0);
    const auto value = natural ? scalar.get<std::uint64_t>() : 0;
    to = static_cast<T>(value);
    return natural && value <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  }
}

template <class T>
Slot find_member(void* object, const std::string& key) {
  Slot found;
  const auto try_field = [&](const auto& field) {
    if (field.key != key) return false;
    found = slot_of(static_cast<T*>(object)->*(field.member));
    return true;
  };
  std::apply([&](const auto&... field) { (void)(try_field(field) || ...); }, kFields<T>);
  return found;
}

// Structs, and JSON of plug-ins, which is kept unchanged.
template <class T>
struct Slots {
  static constexpr SlotOps kOps{.expected = "an object", .member = find_member<T>};
};
template <>
struct Slots<decltype(Application::extensions)> {
  static constexpr SlotOps kOps{.expected = "an object", .member = [](void* object, const std::string& key) {
                                  // It is not shared before the profile is read.
                                  auto& all = *static_cast<decltype(Application::extensions)*>(object);
                                  if (all == nullptr) all = std::make_shared<Json>(Json::object());
                                  return slot_of(const_cast<Json&>(*all)[key]);
                                }};
};
template <>
struct Slots<Json> {
  static constexpr SlotOps kOps{
      .expected = "any value",
      .assign = [](void* object, Json& scalar) { return *static_cast<Json*>(object) = std::move(scalar), true; },
      .begin = [](void* object, bool array) { *static_cast<Json*>(object) = array ? Json::array() : Json::object(); },
      .member = [](void* object, const std::string& key) { return slot_of((*static_cast<Json*>(object))[key]); },
      .element = [](void* object) { return slot_of(static_cast<Json*>(object)->emplace_back(nullptr)); }};
};
template <class T>
requires std::is_arithmetic_v<T>
struct Slots<T> {
  static constexpr SlotOps kOps{.expected = std::is_same_v<T, bool>                 ? "true or false"
                                            : std::is_floating_point_v<T>           ? "a number"
                                            : std::is_signed_v<T> && sizeof(T) == 8 ? "an integer from -2^63 to 2^63-1"
                                            : std::is_signed_v<T>                   ? "an integer from -2^31 to 2^31-1"
                                            : sizeof(T) == sizeof(std::uint64_t)    ? "an integer from 0 to 2^64-1"
                                                                                    : "an integer from 0 to 2^32-1",
                                .assign = assign_number<T>};
};
template <>
struct Slots<std::string> {
  static constexpr SlotOps kOps{.expected = "a string", .assign = [](void* object, Json& scalar) {
                                  if (scalar.is_string())
                                    *static_cast<std::string*>(object) = std::move(scalar.get_ref<std::string&>());
                                  return scalar.is_string();
                                }};
};
template <class T>
struct Slots<std::vector<T>> {
  using List = std::vector<T>;
  static constexpr SlotOps kOps{
      .expected = "an array",
      .begin = [](void* object, bool) { static_cast<List*>(object)->clear(); },
      .element = [](void* object) { return slot_of(static_cast<List*>(object)->emplace_back()); }};
};

template <class T>
Slot slot_of(T& object) {
  if constexpr (std::is_same_v<T, SizeHistogram>) {
    return slot_of(object.calls);
  } else {
    return {&object, &Slots<T>::kOps};
  }
}

class Handler final : public nlohmann::json_sax<Json> {
 public:
  explicit Handler(Run& run) : next_(slot_of(run)) {}

  bool null() override { return scalar(nullptr); }
  bool boolean(bool v) override { return scalar(v); }
  bool number_integer(std::int64_t v) override { return scalar(v); }
  bool number_unsigned(std::uint64_t v) override { return scalar(v); }
  bool number_float(double v, const std::string&) override { return scalar(v); }
  bool string(std::string& v) override { return scalar(std::move(v)); }
  bool binary(Json::binary_t&) override { return false; }

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
    std::size_t index = 0;  // of the next element
    std::string key;
  };

  // The slot for the current value.
  Slot take() {
    if (!frames_.empty() && frames_.back().array) {
      Frame& frame = frames_.back();
      ++frame.index;
      return frame.slot.ops != nullptr ? frame.slot.ops->element(frame.slot.object) : Slot{};
    }
    return next_;
  }

  bool scalar(Json value) {
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
  if (Json::sax_parse(text.begin(), text.end(), &handler)) return {};
  return {handler.error().empty() ? "the JSON is broken" : handler.error()};
}

}  // namespace ardoise::reports
