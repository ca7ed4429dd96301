// Tags on the control communicator, a duplicate of the universe that only maps and streams use.
#pragma once

namespace ardoise::vmpi {

inline constexpr int kMapTag = 1;
inline constexpr int kControlTag = 2;  // control_message.hpp
// Data of a stream. Each end picks the tag on which it wants to receive, and says it in its hello.
inline constexpr int kFirstDataTag = 16;

}  // namespace ardoise::vmpi
