// The text with which a wrapper lets a Steering decide what its call comes to (vmpi/wrappers/steering.hpp). Like the
// text of observation.hpp it is the same for C and Fortran.
#pragma once

#include <string>

#include "vmpi/generator/observation.hpp"
#include "vmpi/generator/table.hpp"

namespace ardoise::generator {

// Has an outcome that the program does not fix, or follows requests whose outcome it does not: it gets a second
// wrapper.
[[nodiscard]] bool is_steerable(const Function& function);

struct SteeringText {
  std::string before;     // behind Observer::enter
  std::string condition;  // of calling once more; "": it is called once
  std::string skipped;    // what is set where no call is made
  std::string after;      // behind what observation reads
};
[[nodiscard]] SteeringText steer(const Function& function, const NameOf& name_of);

}  // namespace ardoise::generator
