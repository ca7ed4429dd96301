// The observer's enter: the tick at which an MPI call begins, and where its wrapper stands on the stack, so that a walk
// from there finds the program's call without passing through MPI. Used by preload.cpp.
#pragma once

#include "vmpi/wrappers/observer.hpp"

extern "C" void ardoise_on_enter(ardoise::vmpi::Call& call) noexcept;
