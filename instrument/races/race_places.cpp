#include "instrument/races/race_places.hpp"

#include <optional>

#include "instrument/machine/modules.hpp"

namespace ardoise::instrument {

RaceKey RacePlaces::describe(const vmpi::Call& call) {
  RaceKey key{vmpi::function_name(call.function), "", reinterpret_cast<std::uintptr_t>(call.return_address),
              size_of(call.comm)};
  if (const std::optional<Module> module = find_module(call.return_address)) {
    key.module = module->path;
    key.offset -= module->base;
  } else {
    key.offset = 0;  // code generated at run time: its address has no meaning in another run
  }
  return key;
}

}  // namespace ardoise::instrument
