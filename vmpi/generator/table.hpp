// The table of MPI functions as the generator sees it: read from vmpi/wrappers/mpi_functions.table, checked, then
// handed to the emitters. Knows nothing of C or Fortran spellings beyond the names of kinds.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ardoise::generator {

// A sentence that names the file and line and says what to change.
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
  bool special_c = false;          // in C, a function of ours stands where the library's would be called
  bool special_fortran = false;    // likewise in Fortran
  bool persistent = false;         // makes a persistent request: moves its bytes at each start
  bool query = false;              // answered from the process's own memory: observers may just count its calls
  bool any_thread = false;         // programs call it from any thread, whatever the thread level
  bool cptr = false;               // has a second Fortran spelling with a TYPE(C_PTR) argument
  bool large = false;              // counts are MPI_Count: MPI_x_c, in Fortran only a specific of mpi_f08's MPI_x
  bool no_twin = false;            // its PMPI_ name stays the library's, or is ours by hand

  // Position of the only parameter of this kind; -1: none. Throws TableError when there are two.
  [[nodiscard]] int position(std::string_view kind) const;
  [[nodiscard]] bool has(std::string_view kind) const { return position(kind) >= 0; }
  // Its PMPI_ name needs a function of ours, too: what the library would do is wrong under a virtual world.
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
  std::vector<Function> functions;  // the large twins behind all others
  std::vector<Skipped> skipped;

  [[nodiscard]] const Function* find(std::string_view name) const;
  [[nodiscard]] bool skips(std::string_view name) const;
  // Of the names in their order: equal hashes mean equal FunctionIds.
  [[nodiscard]] std::uint32_t hash() const;
};

// `text` in the format of docs/reference/mpi_functions.md; `file` is named in errors. Throws TableError.
Table parse_table(std::string_view text, const std::string& file);

}  // namespace ardoise::generator
