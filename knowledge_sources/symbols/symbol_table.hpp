// The functions in the symbol tables of one binary (.symtab, else .dynsym) by address, for code without debug
// information. Used by symbolizer.cpp; elfutils' own query scans all symbols each time.
#pragma once

#include <elfutils/libdwfl.h>

#include <vector>

namespace ardoise::knowledge_sources {

class SymbolTable {
 public:
  // `module` has to outlive this object, which borrows its names.
  explicit SymbolTable(Dwfl_Module* module);
  // The mangled name of the function that contains the address; nullptr: none. A stripped library names only its
  // exported functions; code behind one of them belongs to an unknown function.
  [[nodiscard]] const char* find(GElf_Addr address) const;

 private:
  struct Symbol {
    GElf_Addr low, high;
    const char* name;
  };
  std::vector<Symbol> symbols_;  // sorted by low, one per address
};

}  // namespace ardoise::knowledge_sources
