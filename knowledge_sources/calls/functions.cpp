#include "knowledge_sources/calls/functions.hpp"

#include "instrument/format/posix_functions.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {

FunctionInfo function_info(instrument::PackClass record_class, std::uint32_t function) {
  if (record_class == instrument::PackClass::kMpi && function < vmpi::kFunctionCount) {
    const auto& traits = vmpi::kFunctionTraits[function];
    return {traits.name, traits.category};
  }
  if (record_class == instrument::PackClass::kPosix && function < instrument::kPosixFunctionCount) {
    const auto& info = instrument::kPosixFunctions[function];
    return {std::string(info.name), std::string(category_name(info.category))};
  }
  return {"function " + std::to_string(function), "unknown"};
}

std::uint32_t mpi_table_hash() { return vmpi::kTableHash; }

}  // namespace ardoise::knowledge_sources
