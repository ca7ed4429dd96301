#include "knowledge_sources/symbols/debug_scopes.hpp"

#include <dwarf.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kMostDepth = 200;  // of nested entries: real code has a few dozen

template <class Visit>
void for_each_range(Dwarf_Die* die, Visit&& visit) {
  std::ptrdiff_t offset = 0;
  Dwarf_Addr base = 0, low = 0, high = 0;
  while ((offset = dwarf_ranges(die, offset, &base, &low, &high)) > 0) {
    if (low != 0 && low < high) visit(low, high);  // 0: the linker removed it
  }
}

bool may_hold_code(int tag) {
  constexpr int kTags[] = {DW_TAG_subprogram,     DW_TAG_inlined_subroutine, DW_TAG_lexical_block, DW_TAG_try_block,
                           DW_TAG_catch_block,    DW_TAG_namespace,          DW_TAG_module,        DW_TAG_class_type,
                           DW_TAG_structure_type, DW_TAG_union_type};
  return std::ranges::find(kTags, tag) != std::end(kTags);
}

}  // namespace

DebugScopes::DebugScopes(Dwfl_Module* module) {
  Dwarf_Addr bias = 0;
  for (Dwarf_Die* die = nullptr; (die = dwfl_module_nextcu(module, die, &bias)) != nullptr;) {
    const auto number = static_cast<std::uint32_t>(units_.size());
    units_.push_back({die, bias, false, {}, {}});
    for_each_range(die, [&](Dwarf_Addr low, Dwarf_Addr high) {
      unit_ranges_.push_back({low + bias, high + bias, number});
    });
  }
  std::ranges::sort(unit_ranges_, {}, &UnitRange::low);
}

void DebugScopes::walk(Unit& unit, Dwarf_Die die, std::uint32_t parent, std::uint32_t depth,
                       std::vector<Range>& ranges) {
  Dwarf_Die child;
  if (depth > kMostDepth || dwarf_child(&die, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    if (!may_hold_code(tag)) continue;
    std::uint32_t scope = parent;
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
      // A function inside a function (Fortran's contains, a local class) was not inlined there.
      const std::uint32_t inlined_into = tag == DW_TAG_subprogram ? kNone : parent;
      const auto number = static_cast<std::uint32_t>(unit.scopes.size());
      bool has_code = false;
      for_each_range(&child, [&](Dwarf_Addr low, Dwarf_Addr high) {
        ranges.push_back({low, high, number, depth});
        has_code = true;
      });
      if (has_code) {
        unit.scopes.push_back({child, inlined_into});
        scope = number;
      }
    }
    walk(unit, child, scope, depth + 1, ranges);
  } while (dwarf_siblingof(&child, &child) == 0);
}

// Ranges nest: of those around an address, the one that began last, and deepest, is the innermost.
std::vector<DebugScopes::Segment> DebugScopes::flatten(std::vector<Range> ranges) {
  std::ranges::sort(ranges, [](const Range& a, const Range& b) {
    return std::tuple(a.low, a.depth, b.high) < std::tuple(b.low, b.depth, a.high);
  });
  std::vector<Segment> segments;
  std::vector<const Range*> open;
  const auto close_until = [&](Dwarf_Addr address) {
    while (!open.empty() && open.back()->high <= address) {
      const Dwarf_Addr end = open.back()->high;
      open.pop_back();
      while (!open.empty() && open.back()->high <= end) open.pop_back();  // a child that outlives its parent
      segments.push_back({end, open.empty() ? kNone : open.back()->scope});
    }
  };
  for (const Range& range : ranges) {
    close_until(range.low);
    segments.push_back({range.low, range.scope});
    open.push_back(&range);
  }
  close_until(~Dwarf_Addr{0});
  return segments;
}

void DebugScopes::walk(Unit& unit) {
  unit.walked = true;
  std::vector<Range> ranges;
  walk(unit, *unit.die, kNone, 0, ranges);
  unit.segments = flatten(std::move(ranges));
}

DebugScopes::Found DebugScopes::find(Dwarf_Addr address) {
  Found found;
  auto range = std::ranges::upper_bound(unit_ranges_, address, {}, &UnitRange::low);
  constexpr int kLookBack = 8;  // units that overlap are rare and few
  for (int i = 0; i < kLookBack && range != unit_ranges_.begin(); ++i) {
    --range;
    if (address >= range->high) continue;
    Unit& unit = units_[range->unit];
    if (!unit.walked) walk(unit);
    found.unit = unit.die;
    found.bias = unit.bias;
    const auto segment = std::ranges::upper_bound(unit.segments, address - unit.bias, {}, &Segment::low);
    if (segment == unit.segments.begin()) return found;
    for (std::uint32_t scope = std::prev(segment)->scope; scope != kNone; scope = unit.scopes[scope].parent) {
      found.functions.push_back(unit.scopes[scope].die);
    }
    return found;
  }
  return found;
}

}  // namespace ardoise::knowledge_sources
