// The table of MPI functions, read from vmpi/wrappers/mpi_functions.table and checked, for the emitters. It knows no C
// or Fortran beyond the names of kinds.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::generator {

// The message names file and line and says what to change.
struct TableError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Function {
  std::string name;  // "MPI_Send"
  std::string category;
  std::string rule;                // byte rule, one of rules(); "-": moves no data
  std::vector<std::string> kinds;  // of the C parameters, in order
  bool c_only = false;             // no Fortran spelling
  bool no_f08 = false;             // removed before mpi_f08 was defined
  bool special_c = false;          // in C, a function of vmpi::special replaces the library's
  bool special_fortran = false;    // the same in Fortran
  bool persistent = false;         // creates a persistent request, which moves its bytes at each start
  bool query = false;              // answered from the process's own memory: observers may only count its calls
  bool any_thread = false;         // may be called by any thread, whatever the thread level
  bool cptr = false;               // has a second Fortran spelling with a TYPE(C_PTR) argument
  bool large = false;              // counts are MPI_Count: MPI_x_c, in Fortran only a specific of mpi_f08's MPI_x
  bool no_twin = false;            // its PMPI_ name stays the library's, or is hand-written

  // Position of the only parameter of this kind; -1: none. Throws TableError when there are several.
  [[nodiscard]] int position(std::string_view kind) const;
  [[nodiscard]] bool has(std::string_view kind) const { return position(kind) >= 0; }
  // The library's PMPI_ function would be wrong in a virtual world, so that name is wrapped as well.
  [[nodiscard]] bool needs_twin() const;
  [[nodiscard]] std::string enumerator() const;  // "kSend"; MPIX_Bcast_init: "kX_Bcast_init"
  [[nodiscard]] std::string lower_name() const;  // "mpi_send"
  [[nodiscard]] std::string bare_name() const;   // "Send", "X_Bcast_init"
  // Its twin with large counts.
  [[nodiscard]] Function large_twin() const;
};

struct Skipped {
  std::string name;
  std::string reason;
};

struct Table {
  std::vector<Function> functions;  // large twins come after all others
  std::vector<Skipped> skipped;

  [[nodiscard]] const Function* find(std::string_view name) const;
  [[nodiscard]] bool skips(std::string_view name) const;
  // Hash of the names in order: equal hashes mean equal FunctionIds.
  [[nodiscard]] std::uint32_t hash() const;
};

// `text` in the format of docs/reference/mpi_functions.md; `file` is named in errors. Throws TableError.
Table parse_table(std::string_view text, const std::string& file);

}  // namespace ardoise::generator
