// Detects a vfork() child as the caller: see vfork_hook.cpp.
#pragma once

namespace ardoise::instrument {

// Async-signal-safe.
[[nodiscard]] bool is_vfork_child() noexcept;

}  // namespace ardoise::instrument
