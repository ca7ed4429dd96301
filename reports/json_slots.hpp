// The SlotOps of each type in the model, made from model_fields.hpp. Used by json_reader.cpp only.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "reports/json_reader.hpp"
#include "reports/model_fields.hpp"

namespace ardoise::reports {

template <class T>
struct SlotsOf;  // has a static constexpr SlotOps kOps

template <class T>
Slot slot_of(T& object) {
  return {&object, &SlotsOf<T>::kOps};
}

template <class T>
requires std::is_arithmetic_v<T>
struct SlotsOf<T> {
  static bool assign(void* object, const Scalar& value) {
    T& to = *static_cast<T*>(object);
    if constexpr (std::is_same_v<T, bool>) {
      to = value.magnitude != 0;
      return value.kind == Scalar::Kind::boolean;
    } else if constexpr (std::is_floating_point_v<T>) {
      // null is what a writer makes of a number that is not known
      to = static_cast<T>(value.real);
      return value.kind == Scalar::Kind::integer || value.kind == Scalar::Kind::real ||
             value.kind == Scalar::Kind::null;
    } else {
      to = static_cast<T>(value.magnitude);
      return value.kind == Scalar::Kind::integer && !value.negative &&
             value.magnitude <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    }
  }
  static constexpr const char* kExpected = std::is_same_v<T, bool>              ? "true or false"
                                           : std::is_floating_point_v<T>        ? "a number"
                                           : sizeof(T) == sizeof(std::uint64_t) ? "an integer from 0 to 2^64-1"
                                           : std::is_signed_v<T>                ? "an integer from 0 to 2^31-1"
                                                                                : "an integer from 0 to 2^32-1";
  static constexpr SlotOps kOps{kExpected, assign, nullptr, nullptr, nullptr};
};

template <>
struct SlotsOf<std::string> {
  static bool assign(void* object, const Scalar& value) {
    if (value.kind != Scalar::Kind::string) return false;
    *static_cast<std::string*>(object) = std::move(*value.string);
    return true;
  }
  static constexpr SlotOps kOps{"a string", assign, nullptr, nullptr, nullptr};
};

template <class T>
struct SlotsOf<std::vector<T>> {
  static void begin(void* object, bool) { static_cast<std::vector<T>*>(object)->clear(); }
  static Slot element(void* object) { return slot_of(static_cast<std::vector<T>*>(object)->emplace_back()); }
  static constexpr SlotOps kOps{"an array", nullptr, begin, nullptr, element};
};

template <>
struct SlotsOf<SizeHistogram> {
  using Calls = SlotsOf<std::vector<std::uint64_t>>;
  static void begin(void* object, bool array) { Calls::begin(&static_cast<SizeHistogram*>(object)->calls, array); }
  static Slot element(void* object) { return Calls::element(&static_cast<SizeHistogram*>(object)->calls); }
  static constexpr SlotOps kOps{"an array", nullptr, begin, nullptr, element};
};

// Whatever plug-ins wrote: kept as it is.
template <>
struct SlotsOf<nlohmann::json> {
  using Json = nlohmann::json;
  static bool assign(void* object, const Scalar& value) {
    Json& to = *static_cast<Json*>(object);
    switch (value.kind) {
      case Scalar::Kind::null:
        to = nullptr;
        break;
      case Scalar::Kind::boolean:
        to = value.magnitude != 0;
        break;
      case Scalar::Kind::real:
        to = value.real;
        break;
      case Scalar::Kind::string:
        to = std::move(*value.string);
        break;
      case Scalar::Kind::integer:
        if (value.negative) {
          to = static_cast<std::int64_t>(0 - value.magnitude);
        } else {
          to = value.magnitude;
        }
    }
    return true;
  }
  static void begin(void* object, bool array) { *static_cast<Json*>(object) = array ? Json::array() : Json::object(); }
  static Slot member(void* object, const std::string& key) { return slot_of((*static_cast<Json*>(object))[key]); }
  static Slot element(void* object) {
    Json& to = *static_cast<Json*>(object);
    to.push_back(nullptr);
    return slot_of(to.back());
  }
  static constexpr SlotOps kOps{"any value", assign, begin, member, element};
};

template <class T>
requires kIsStruct<T>
struct SlotsOf<T> {
  static Slot member(void* object, const std::string& key) {
    Slot found;
    const auto try_field = [&](const auto& field) {
      if (field.key != key) return false;
      found = slot_of(static_cast<T*>(object)->*(field.member));
      return true;
    };
    std::apply([&](const auto&... field) { (void)(try_field(field) || ...); }, kFields<T>);
    return found;
  }
  static constexpr SlotOps kOps{"an object", nullptr, nullptr, member, nullptr};
};

}  // namespace ardoise::reports
