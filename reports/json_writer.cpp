#include "reports/json_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "reports/extensions.hpp"

namespace ardoise::reports {

namespace {

template <class T>
const T& as(const void* v) {
  return *static_cast<const T*>(v);
}

}  // namespace

void JsonWriter::flush() {
  sink_(out_);
  out_.clear();
}

void JsonWriter::new_line() { out_.append(1, '\n').append(static_cast<std::size_t>(depth_), ' '); }

void JsonWriter::key(std::string_view key) {
  if (!first_) out_.push_back(',');
  first_ = false;
  if (!one_line_) new_line();
  out_.append(1, '"').append(key).append(one_line_ ? "\":" : "\": ");
}

void JsonWriter::member(std::string_view name, const nlohmann::json& v) {
  key(name);
  json(v);
}

void JsonWriter::json(const nlohmann::json& v) {
  out_ += v.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void JsonWriter::number(double v, int digits) {
  if (!std::isfinite(v)) {
    out_ += "null";  // JSON has no infinity and no NaN
  } else if (v == 0) {
    out_.push_back('0');
  } else if (digits != 0) {
    out_ += fmt::format("{:.{}g}", v, digits);
  } else {
    out_ += fmt::format("{}", v);
  }
}

void JsonWriter::object(const Type& type, const void* v) {
  const bool outer_first = first_, outer_line = one_line_;
  one_line_ = one_line_ || type.one_line;
  first_ = true;
  ++depth_;
  out_.push_back('{');
  for (const Field& field : type.fields) {
    key(field.key);
    value(*field.type, static_cast<const std::byte*>(v) + field.offset);
  }
  if (&type == &kType<Application>) derived_members(*this, as<Application>(v));
  --depth_;
  if (!one_line_ && !first_) new_line();
  out_.push_back('}');
  first_ = outer_first;
  one_line_ = outer_line;
}

void JsonWriter::array(const Type& type, const void* list) {
  using Kind = Type::Kind;
  const std::size_t size = type.size(list);
  const auto* element = static_cast<const std::byte*>(type.data(list));
  const Kind kind = type.element->kind;
  const bool lines = !one_line_ && (kind == Kind::text || kind == Kind::list || kind == Kind::object);
  out_.push_back('[');
  ++depth_;
  for (std::size_t i = 0; i < size; ++i, element += type.element_size) {
    if (i != 0) out_.push_back(',');
    if (lines) new_line();
    if (kind == Kind::float32) {
      number(static_cast<double>(as<float>(element)), 4);
    } else if (kind == Kind::float64) {
      number(as<double>(element), kArrayDigits);
    } else {
      value(*type.element, element);
    }
    if (out_.size() >= kFlush) flush();
  }
  --depth_;
  if (lines && size != 0) new_line();
  out_.push_back(']');
}

void JsonWriter::value(const Type& type, const void* v) {
  const auto integer = [this](auto number) {
    const fmt::format_int digits(number);
    out_.append(digits.data(), digits.data() + digits.size());
  };
  switch (type.kind) {
    case Type::Kind::boolean:
      out_ += as<bool>(v) ? "true" : "false";
      break;
    case Type::Kind::int32:
      integer(as<std::int32_t>(v));
      break;
    case Type::Kind::int64:
      integer(as<std::int64_t>(v));
      break;
    case Type::Kind::uint32:
      integer(as<std::uint32_t>(v));
      break;
    case Type::Kind::uint64:
      integer(as<std::uint64_t>(v));
      break;
    case Type::Kind::float32:
      number(static_cast<double>(as<float>(v)), one_line_ ? kArrayDigits : 0);
      break;
    case Type::Kind::float64:
      number(as<double>(v), one_line_ ? kArrayDigits : 0);
      break;
    case Type::Kind::text:
      json(as<std::string>(v));
      break;
    case Type::Kind::json:
      json(as<nlohmann::json>(v));
      break;
    case Type::Kind::extensions: {
      const auto& extensions = as<decltype(Application::extensions)>(v);
      json(extensions == nullptr ? nlohmann::json::object() : *extensions);
      break;
    }
    case Type::Kind::list:
      array(type, v);
      break;
    case Type::Kind::object:
      object(type, v);
      break;
  }
  if (out_.size() >= kFlush) flush();
}

}  // namespace ardoise::reports
