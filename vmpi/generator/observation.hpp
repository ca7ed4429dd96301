// Generates the code that fills a Call around the real function. It is the same for C and Fortran: both use the same
// names for their arguments, and arguments::value, ::type, ::comm_of ... are defined for either language.
#pragma once

#include <functional>
#include <string>

#include "vmpi/generator/table.hpp"

namespace ardoise::generator {

struct Observation {
  std::string before;  // declarations and assignments, before enter
  std::string after;   // after the real function; `code` is its error code
};

// name_of(i): name of parameter i. length_of(i): name of the hidden length of a Fortran string, "" in C.
using NameOf = std::function<std::string(int)>;
Observation observe(const Function& function, const NameOf& name_of, const NameOf& length_of);

// The condition under which a wrapper, with the observer in `watching`, calls the real function without observing it.
std::string unobserved(const Function& function);

// The argument that an observed call passes on for parameter i: private statuses instead of ignored ones.
std::string passed_argument(const Function& function, const NameOf& name_of, int i);

}  // namespace ardoise::generator
