// The observer's enter: stores the begin tick of an MPI call and its wrapper's frame, so that a walk from there finds
// the program's call without passing through MPI. Used by preload.cpp.
#pragma once

#include "vmpi/wrappers/observer.hpp"

extern "C" void ardoise_on_enter(ardoise::vmpi::Call& call) noexcept;
