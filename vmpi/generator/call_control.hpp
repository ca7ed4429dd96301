// Generates the code with which a wrapper lets a CallControl override its call (vmpi/wrappers/call_control.hpp). The
// code is the same for C and Fortran.
#pragma once

#include <string>

#include "vmpi/generator/observation.hpp"
#include "vmpi/generator/table.hpp"

namespace ardoise::generator {

// True: the outcome of the call is not determined by the program (wildcards, tests), or depends on requests whose
// outcome is not. The function gets a second wrapper.
[[nodiscard]] bool is_controllable(const Function& function);

struct CallControlText {
  std::string before;     // after Observer::enter
  std::string condition;  // condition for calling again; "": called once
  std::string skipped;    // results to set when the call is skipped
  std::string after;      // after the code of observation.hpp
};
[[nodiscard]] CallControlText call_control_text(const Function& function, const NameOf& name_of);

}  // namespace ardoise::generator
