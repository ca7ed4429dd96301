// Generates the code with which a wrapper passes its arguments to an observer that wants them
// (vmpi/wrappers/call_arguments.hpp). The code is the same for C and Fortran.
#pragma once

#include <string>

#include "vmpi/generator/observation.hpp"
#include "vmpi/generator/table.hpp"

namespace ardoise::generator {

// Goes behind the real function and behind the code of observation.hpp. "": the function has no such arguments.
std::string argument_text(const Function& function, const NameOf& name_of, bool is_fortran);

}  // namespace ardoise::generator
