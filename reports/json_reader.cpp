// Assigns the events of nlohmann's SAX parser to slots; see json_reader.hpp.
#include "reports/json_reader.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "reports/model_fields.hpp"
#include "reports/text/utf8.hpp"

namespace ardoise::reports {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxDepth = 64;  // more than any plug-in nests

// The target of the next JSON value: an object in the model and its type. Without a type the value is skipped.
struct Slot {
  void* object = nullptr;
  const Type* type = nullptr;
};

// Values inside Application::extensions, which are kept as they are.
constexpr Type kJson{.kind = Type::Kind::json};

template <class T>
T& as(void* object) {
  return *static_cast<T*>(object);
}

const char* expected(const Type& type) {
  switch (type.kind) {
    case Type::Kind::boolean:
      return "true or false";
    case Type::Kind::int32:
      return "an integer from -2^31 to 2^31-1";
    case Type::Kind::int64:
      return "an integer from -2^63 to 2^63-1";
    case Type::Kind::uint32:
      return "an integer from 0 to 2^32-1";
    case Type::Kind::uint64:
      return "an integer from 0 to 2^64-1";
    case Type::Kind::float32:
    case Type::Kind::float64:
      return "a number";
    case Type::Kind::text:
      return "a string";
    case Type::Kind::json:
      return "any value";
    case Type::Kind::list:
      return "an array";
    case Type::Kind::extensions:
    case Type::Kind::object:
      break;
  }
  return "an object";
}

template <class T>
bool assign_signed(T& to, const Json& scalar) {
  const bool fits = scalar.is_number_integer() && (!scalar.is_number_unsigned() || scalar.get<std::int64_t>() >= 0) &&
                    scalar.get<std::int64_t>() >= std::numeric_limits<T>::min() &&
                    scalar.get<std::int64_t>() <= std::numeric_limits<T>::max();
  to = fits ? static_cast<T>(scalar.get<std::int64_t>()) : T{0};
  return fits;
}

template <class T>
bool assign_unsigned(T& to, const Json& scalar) {
  const bool natural = scalar.is_number_unsigned() || (scalar.is_number_integer() && scalar.get<std::int64_t>() >= 0);
  const auto value = natural ? scalar.get<std::uint64_t>() : 0;
  to = static_cast<T>(value);
  return natural && value <= std::numeric_limits<T>::max();
}

// null stands for a number that JSON cannot write.
template <class T>
bool assign_float(T& to, const Json& scalar) {
  to = scalar.is_number() ? static_cast<T>(scalar.get<double>()) : T{0};
  return scalar.is_number() || scalar.is_null();
}

// False: type or range is wrong.
bool assign(const Slot& slot, Json& scalar) {
  void* const to = slot.object;
  switch (slot.type->kind) {
    case Type::Kind::boolean:
      if (scalar.is_boolean()) as<bool>(to) = scalar.get<bool>();
      return scalar.is_boolean();
    case Type::Kind::int32:
      return assign_signed(as<std::int32_t>(to), scalar);
    case Type::Kind::int64:
      return assign_signed(as<std::int64_t>(to), scalar);
    case Type::Kind::uint32:
      return assign_unsigned(as<std::uint32_t>(to), scalar);
    case Type::Kind::uint64:
      return assign_unsigned(as<std::uint64_t>(to), scalar);
    case Type::Kind::float32:
      return assign_float(as<float>(to), scalar);
    case Type::Kind::float64:
      return assign_float(as<double>(to), scalar);
    case Type::Kind::text:
      if (scalar.is_string()) as<std::string>(to) = std::move(scalar.get_ref<std::string&>());
      return scalar.is_string();
    case Type::Kind::json:
      as<Json>(to) = std::move(scalar);
      return true;
    case Type::Kind::extensions:
    case Type::Kind::list:
    case Type::Kind::object:
      break;
  }
  return false;
}

// Before the first element or member. False: the type has no elements, or no members.
bool begin_compound(const Slot& slot, bool array) {
  switch (slot.type->kind) {
    case Type::Kind::json:
      as<Json>(slot.object) = array ? Json::array() : Json::object();
      return true;
    case Type::Kind::list:
      if (array) slot.type->clear(slot.object);
      return array;
    case Type::Kind::extensions:
    case Type::Kind::object:
      return !array;
    default:
      return false;
  }
}

Slot slot_of_element(const Slot& list) {
  if (list.type->kind == Type::Kind::json) return {&as<Json>(list.object).emplace_back(nullptr), &kJson};
  return {list.type->append(list.object), list.type->element};
}

Slot slot_of_member(const Slot& object, const std::string& key) {
  if (object.type->kind == Type::Kind::json) return {&as<Json>(object.object)[key], &kJson};
  if (object.type->kind == Type::Kind::extensions) {
    // Nothing else refers to it before the profile is read.
    auto& all = as<decltype(Application::extensions)>(object.object);
    if (all == nullptr) all = std::make_shared<Json>(Json::object());
    return {&const_cast<Json&>(*all)[key], &kJson};
  }
  for (const Field& field : object.type->fields) {
    if (field.key == key) return {static_cast<std::byte*>(object.object) + field.offset, field.type};
  }
  return {};
}

class Handler final : public nlohmann::json_sax<Json> {
 public:
  explicit Handler(Run& run) : next_{&run, &kType<Run>} {}

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
    next_ = frame.slot.type != nullptr ? slot_of_member(frame.slot, v) : Slot{};
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

  // The slot for the value that starts now.
  Slot take() {
    if (!frames_.empty() && frames_.back().array) {
      Frame& frame = frames_.back();
      ++frame.index;
      return frame.slot.type != nullptr ? slot_of_element(frame.slot) : Slot{};
    }
    return next_;
  }

  bool scalar(Json value) {
    const Slot slot = take();
    return slot.type == nullptr || assign(slot, value) || wrong(slot);
  }

  bool begin(bool array) {
    const Slot slot = take();
    if (slot.type != nullptr && !begin_compound(slot, array)) return wrong(slot);
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
    error_ = fmt::format("{} must be {}", place(), expected(*slot.type));
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
