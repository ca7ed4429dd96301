#include "instrument/record/type_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/format/definition_writer.hpp"
#include "vmpi/wrappers/call_arguments.hpp"
#include "vmpi/wrappers/type_runs.hpp"

namespace ardoise::instrument {
namespace {

struct Constructor {
  int combiner;
  std::string_view name;
};
const std::array kConstructors = {Constructor{MPI_COMBINER_DUP, "dup"},
                                  Constructor{MPI_COMBINER_CONTIGUOUS, "contiguous"},
                                  Constructor{MPI_COMBINER_VECTOR, "vector"},
                                  Constructor{MPI_COMBINER_HVECTOR, "hvector"},
                                  Constructor{MPI_COMBINER_INDEXED, "indexed"},
                                  Constructor{MPI_COMBINER_HINDEXED, "hindexed"},
                                  Constructor{MPI_COMBINER_INDEXED_BLOCK, "indexed_block"},
                                  Constructor{MPI_COMBINER_HINDEXED_BLOCK, "hindexed_block"},
                                  Constructor{MPI_COMBINER_STRUCT, "struct"},
                                  Constructor{MPI_COMBINER_SUBARRAY, "subarray"},
                                  Constructor{MPI_COMBINER_DARRAY, "darray"},
                                  Constructor{MPI_COMBINER_RESIZED, "resized"},
                                  Constructor{MPI_COMBINER_F90_REAL, "f90_real"},
                                  Constructor{MPI_COMBINER_F90_COMPLEX, "f90_complex"},
                                  Constructor{MPI_COMBINER_F90_INTEGER, "f90_integer"}};

std::string name_of(MPI_Datatype type) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  PMPI_Type_get_name(type, name.data(), &length);
  return name.data();
}

// "": no text is possible, or it would exceed `most`.
std::string text_of(MPI_Datatype type, std::size_t most) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS) return "";
  if (combiner == MPI_COMBINER_NAMED) return name_of(type);
  std::string_view constructor;
  for (const Constructor& each : kConstructors) {
    if (each.combiner == combiner) constructor = each.name;
  }
  // Each number takes at least two characters.
  const auto numbers = static_cast<std::size_t>(integers) + static_cast<std::size_t>(addresses);
  if (constructor.empty() || 2 * numbers > most) return "";
  std::vector<int> of_integers(static_cast<std::size_t>(integers));
  std::vector<MPI_Aint> of_addresses(static_cast<std::size_t>(addresses));
  std::vector<MPI_Datatype> of_types(static_cast<std::size_t>(types), MPI_DATATYPE_NULL);
  if (PMPI_Type_get_contents(type, integers, addresses, types, of_integers.data(), of_addresses.data(),
                             of_types.data()) != MPI_SUCCESS)
    return "";
  bool is_whole = true;
  std::string parts;
  for (MPI_Datatype& part : of_types) {
    const std::string text = is_whole ? text_of(part, most - parts.size()) : "";
    is_whole = is_whole && !text.empty() && parts.size() + text.size() < most;
    if (is_whole) parts += (parts.empty() ? "" : ",") + text;
    int none = 0, of_part = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(part, &none, &none, &none, &of_part);
    if (!vmpi::type_runs::is_predefined(of_part)) PMPI_Type_free(&part);
  }
  if (!is_whole) return "";
  std::string text =
      fmt::format("{}({};{};{})", constructor, fmt::join(of_integers, ","), fmt::join(of_addresses, ","), parts);
  return text.size() <= most ? text : "";
}

}  // namespace

DatatypeFacts describe_type(std::int64_t word) {
  const auto type = vmpi::handle_of_word<MPI_Datatype>(word);
  if (type == MPI_DATATYPE_NULL) return {};
  MPI_Count size = 0, lower_bound = 0, extent = 0;
  PMPI_Type_size_x(type, &size);
  PMPI_Type_get_extent_x(type, &lower_bound, &extent);
  DatatypeFacts facts{text_of(type, kMaxStringBytes), size, lower_bound, extent};
  if (facts.text.empty()) facts.text = fmt::format("opaque({};{},{};)", size, lower_bound, extent);
  return facts;
}

}  // namespace ardoise::instrument
