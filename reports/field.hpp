// What the tables of the schema are made of; see model_fields.hpp.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>

namespace ardoise::reports {

template <class Class, class Member>
struct Field {
  std::string_view key;
  Member Class::*member;
};
template <class Class, class Member>
Field(const char*, Member Class::*) -> Field<Class, Member>;

// Specialised for each struct of the model: a tuple of Field.
template <class T>
inline constexpr std::tuple<> kFields{};

template <class T>
inline constexpr bool kIsStruct = std::tuple_size_v<std::remove_cvref_t<decltype(kFields<T>)>> != 0;

// Structs of which there are many: written on one line each.
template <class T>
inline constexpr bool kOneLine = false;

}  // namespace ardoise::reports
