// Common helpers of the tests of single knowledge sources: short names, and look-ups in an Application.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "instrument/format/posix_functions.hpp"
#include "replay/pack_maker.hpp"
#include "replay/session.hpp"

namespace ardoise::knowledge_sources {

using instrument::ExtensionKind;
using instrument::Shape;
using replay::PackMaker;
using replay::Session;
using vmpi::FunctionId;

inline constexpr double kNs = 1e-9;

[[nodiscard]] constexpr std::uint16_t id(FunctionId function) { return static_cast<std::uint16_t>(function); }
[[nodiscard]] constexpr std::uint16_t id(instrument::PosixFunction function) {
  return static_cast<std::uint16_t>(function);
}

[[nodiscard]] constexpr std::uint32_t extension_word(ExtensionKind kind, FunctionId function) {
  return instrument::make_word(static_cast<std::uint32_t>(kind), id(function), Shape::kExtension);
}

template <class Item>
const Item& find(const std::vector<Item>& items, const std::string& function) {
  const auto place = std::ranges::find(items, function, &Item::function);
  if (place == items.end()) throw std::runtime_error("no " + function + " in the model");
  return *place;
}

// The edges as {source, target, messages, bytes, nanoseconds}.
using EdgeTuple = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t, long>;
inline std::vector<EdgeTuple> edges_of(const reports::Application& application) {
  std::vector<EdgeTuple> result;
  for (const auto& edge : application.edges) {
    result.emplace_back(edge.source, edge.target, edge.messages, edge.bytes, std::lround(edge.seconds * 1e9));
  }
  return result;
}

}  // namespace ardoise::knowledge_sources
