// The text with which a wrapper tells its arguments to an observer that wants them (vmpi/wrappers/call_arguments.hpp).
// Like the text of observation.hpp it is the same for C and Fortran.
#pragma once

#include <string>

#include "vmpi/generator/observation.hpp"
#include "vmpi/generator/table.hpp"

namespace ardoise::generator {

// Stands behind the real function, and behind what observation reads there; "": the function has none to tell.
std::string argument_text(const Function& function, const NameOf& name_of, bool is_fortran);

}  // namespace ardoise::generator
