// The functions in the symbol tables of one binary (.symtab, else .dynsym) by address, for code without debug
// information. Used by symbolizer.cpp; elfutils' own question goes through all symbols each time.
#pragma once

#include <elfutils/libdwfl.h>

#include <vector>

namespace ardoise::knowledge_sources {

class SymbolTable {
 public:
  // `module` has to live as long as this: names are its own.
  explicit SymbolTable(Dwfl_Module* module);
  // The mangled name of the function that contains the address; nullptr: none. A stripped library still names its
  // exported functions; what lies behind one of them is another function.
  [[nodiscard]] const char* find(GElf_Addr address) const;

 private:
  struct Symbol {
    GElf_Addr low, high;
    const char* name;
  };
  std::vector<Symbol> symbols_;  // sorted by low, one for each
};

}  // namespace ardoise::knowledge_sources
