#include "knowledge_sources/symbols/symbol_table.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>

namespace ardoise::knowledge_sources {
namespace {

constexpr GElf_Addr kUnknownSize = 4096;

bool is_code(const GElf_Sym& symbol) {
  const auto type = GELF_ST_TYPE(symbol.st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC ||
         (type == STT_NOTYPE && symbol.st_size != 0);  // the last: assembly
}

}  // namespace

SymbolTable::SymbolTable(Dwfl_Module* module) {
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol;
    GElf_Addr address = 0;
    GElf_Word section = 0;
    const char* const name = dwfl_module_getsym_info(module, i, &symbol, &address, &section, nullptr, nullptr);
    if (name == nullptr || *name == '\0' || section == SHN_UNDEF || !is_code(symbol)) continue;
    symbols_.push_back({address, address + symbol.st_size, name});
  }
  // If an address has several names, the shortest without the underscores of aliases is usually the common one.
  std::ranges::sort(symbols_, [](const Symbol& a, const Symbol& b) {
    const auto key = [](const Symbol& s) {
      return std::tuple(s.low, s.high == s.low, std::strspn(s.name, "_"), std::strlen(s.name));
    };
    const auto x = key(a), y = key(b);
    return x != y ? x < y : std::strcmp(a.name, b.name) < 0;
  });
  symbols_.erase(
      std::unique(symbols_.begin(), symbols_.end(), [](const Symbol& a, const Symbol& b) { return a.low == b.low; }),
      symbols_.end());
  // A function without a size ends at the next one, or soon.
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    Symbol& symbol = symbols_[i];
    if (symbol.high != symbol.low) continue;
    symbol.high = symbol.low + kUnknownSize;
    if (i + 1 < symbols_.size()) symbol.high = std::min(symbol.high, symbols_[i + 1].low);
  }
}

const char* SymbolTable::find(GElf_Addr address) const {
  const auto next = std::ranges::upper_bound(symbols_, address, {}, &Symbol::low);
  if (next == symbols_.begin()) return nullptr;
  const Symbol& symbol = *std::prev(next);
  return address < symbol.high ? symbol.name : nullptr;
}

}  // namespace ardoise::knowledge_sources
