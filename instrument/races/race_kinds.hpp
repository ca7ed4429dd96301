// The nondeterministic results of functions with a second wrapper (vmpi/wrappers/call_control.hpp), encoded as numbers
// (format/race_tokens.hpp). Recorder and forcer see the same calls and must encode them the same way.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "vmpi/wrappers/observer.hpp"

namespace ardoise::instrument {

enum class RaceKind : std::uint8_t {
  kNone,
  kReceive,   // with a wildcard: {source, tag}; {}: failed
  kProbe,     // the same
  kTryProbe,  // {0}, {1}, or with a wildcard {1, source, tag}
  kPost,      // with a wildcard: {}; its outcome is in stream 0
  kPrepare,   // MPI_Recv_init: nothing
  kStart,     // {} for each started receive with a wildcard
  kTest,      // {flag}
  kTestAny,   // {-1}: no active request; {0}: none complete; {1 + index}
  kWaitAny,   // the same
  kSome,      // {-1}: no active request; {count, indices ...}
  kWait,      // nothing
  kCancel,    // nothing; its outcome is in stream 0
  kFree       // nothing
};

inline constexpr std::array<RaceKind, vmpi::kFunctionCount> kRaceKinds = [] {
  std::array<RaceKind, vmpi::kFunctionCount> kinds{};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const vmpi::FunctionTraits& traits = vmpi::kFunctionTraits[i];
    const std::string_view name = traits.name;
    RaceKind& kind = kinds[i];
    if (traits.role == vmpi::Role::kReceive) kind = RaceKind::kReceive;
    if (traits.role == vmpi::Role::kSendReceive) kind = traits.starts_request ? RaceKind::kPost : RaceKind::kReceive;
    if (traits.role == vmpi::Role::kPostReceive) kind = traits.persistent ? RaceKind::kPrepare : RaceKind::kPost;
    if (traits.role == vmpi::Role::kProbe)
      kind = name == "MPI_Iprobe" || name == "MPI_Improbe" ? RaceKind::kTryProbe : RaceKind::kProbe;
    if (traits.role == vmpi::Role::kStart) kind = RaceKind::kStart;
    if (traits.role == vmpi::Role::kCompletes) kind = RaceKind::kWait;
    if (name == "MPI_Test" || name == "MPI_Testall" || name == "MPI_Request_get_status") kind = RaceKind::kTest;
    if (name == "MPI_Testany") kind = RaceKind::kTestAny;
    if (name == "MPI_Waitany") kind = RaceKind::kWaitAny;
    if (name == "MPI_Testsome" || name == "MPI_Waitsome") kind = RaceKind::kSome;
    if (name == "MPI_Cancel") kind = RaceKind::kCancel;
    if (name == "MPI_Request_free") kind = RaceKind::kFree;
    // The probe has already chosen their messages.
    if (name.starts_with("MPI_Mrecv") || name.starts_with("MPI_Imrecv")) kind = RaceKind::kNone;
  }
  return kinds;
}();
[[nodiscard]] constexpr RaceKind race_kind(vmpi::FunctionId function) {
  return kRaceKinds[static_cast<std::size_t>(function)];
}

// The source and tag that the program passed to a receive or probe.
struct Wanted {
  std::int32_t source, tag;
  [[nodiscard]] bool is_receive() const { return source != MPI_PROC_NULL; }
  [[nodiscard]] bool has_wildcard() const { return is_receive() && (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG); }
};
[[nodiscard]] inline Wanted wanted_by(const vmpi::Call& call) {
  if (vmpi::function_traits(call.function).role == vmpi::Role::kSendReceive) return {call.source, call.receive_tag};
  return {call.peer, call.tag};
}

// The outcome of a posted receive: an entry of stream 0, {stream, post, source, tag}. `post`: its number among the
// posted receives of its thread, minus that of the thread's previous entry; the tag is a difference as well.
inline constexpr std::int32_t kCancelledReceive = INT32_MIN;  // no message
inline constexpr std::int32_t kNotCancelled = INT32_MIN + 1;  // without a wildcard; MPI_Cancel came too late
inline constexpr std::int32_t kUnknownMessage = INT32_MIN + 2;  // the receive failed

[[nodiscard]] constexpr std::int32_t wrapped_difference(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b));
}
[[nodiscard]] constexpr std::int32_t wrapped_sum(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}

template <class Handle>
[[nodiscard]] std::uint64_t race_handle(Handle handle) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<std::uintptr_t>(handle);
  } else {
    return static_cast<std::uint32_t>(handle);
  }
}

}  // namespace ardoise::instrument
