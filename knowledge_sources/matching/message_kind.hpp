// Effects of functions on messages beyond the shape of their records.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {

struct MessageKind {
  bool starts = false;             // another call completes it
  bool starts_both = false;        // starts a send and a receive
  bool is_buffered = false;        // its send never waits for the receiver
  bool is_synchronous = false;     // its send always waits for the receiver
  bool takes_message = false;      // a probe that reserves its message for one call, like a receive
  bool receives_taken = false;     // receives such a message
  bool waits_for_message = false;  // a probe that blocks until there is a message
  bool tests = false;              // completes finished requests without waiting
};

namespace detail {

constexpr MessageKind message_kind_of(const vmpi::FunctionTraits& function) {
  std::string_view name = function.name;
  name.remove_prefix(std::string_view("MPI_").size());
  if (name.ends_with("_c")) name.remove_suffix(2);
  const auto is_one_of = [&](auto... names) { return ((name == names) || ...); };
  MessageKind kind;
  kind.starts = function.starts_request || is_one_of("Start", "Startall");
  kind.starts_both = is_one_of("Isendrecv", "Isendrecv_replace");
  kind.is_buffered = is_one_of("Bsend", "Ibsend");
  kind.is_synchronous = is_one_of("Ssend", "Issend");
  kind.takes_message = is_one_of("Mprobe", "Improbe");
  kind.receives_taken = is_one_of("Mrecv", "Imrecv");
  kind.waits_for_message = is_one_of("Probe", "Mprobe");
  kind.tests = name.starts_with("Test") || is_one_of("Request_free", "Request_get_status");
  return kind;
}

inline constexpr auto kMessageKinds = [] {
  std::array<MessageKind, vmpi::kFunctionCount> kinds{};
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = message_kind_of(vmpi::kFunctionTraits[i]);
  return kinds;
}();

}  // namespace detail

// function: unchecked number from outside.
[[nodiscard]] constexpr MessageKind message_kind(std::uint32_t function) {
  return function < detail::kMessageKinds.size() ? detail::kMessageKinds[function] : MessageKind{};
}

}  // namespace ardoise::knowledge_sources
