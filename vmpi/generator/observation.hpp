// The text that fills a Call around the real function. It is the same for C and Fortran: both have the same names for
// their arguments, and the words it uses (arguments::value, ::type, ::comm_of ...) mean the right thing in either.
#pragma once

#include <functional>
#include <string>

#include "vmpi/generator/table.hpp"

namespace ardoise::generator {

struct Observation {
  std::string before;  // declarations and assignments, before enter
  std::string after;   // after the real function; `code` is its error code
};

// name_of(i): how parameter i is called. length_of(i): how the hidden length of a Fortran string is called, "" in C.
using NameOf = std::function<std::string(int)>;
Observation observe(const Function& function, const NameOf& name_of, const NameOf& length_of);

// The condition under which a wrapper, which has asked for the observer `watching`, just makes the call.
std::string unobserved(const Function& function);

// The argument that an observed call passes down for parameter i: private statuses instead of ignored ones.
std::string passed_argument(const Function& function, const NameOf& name_of, int i);

}  // namespace ardoise::generator
