// The shape of records of functions with a given role. A template, since this layer does not know vmpi::Role.
#pragma once

#include "instrument/format/event_format.hpp"

namespace ardoise::instrument {

// kLocal if the role alone does not determine the shape.
template <class Role>
[[nodiscard]] constexpr Shape shape_of_role(Role role) {
  switch (role) {
    case Role::kSend:
    case Role::kSendReceive:
      return Shape::kSend;
    case Role::kReceive:
      return Shape::kReceive;
    case Role::kPostReceive:
      return Shape::kPostReceive;
    case Role::kCompletes:
      return Shape::kCompletes;
    case Role::kProbe:
      return Shape::kProbe;
    case Role::kCollective:
      return Shape::kCollective;
    case Role::kRooted:
      return Shape::kRooted;
    case Role::kNeighbour:
      return Shape::kNeighbour;
    case Role::kPut:
      return Shape::kPut;
    case Role::kGet:
      return Shape::kGet;
    case Role::kWindow:
      return Shape::kWindow;
    case Role::kFileRead:
      return Shape::kFileRead;
    case Role::kFileWrite:
      return Shape::kFileWrite;
    case Role::kLocal:
    case Role::kStart:
      break;
  }
  return Shape::kLocal;
}

}  // namespace ardoise::instrument
