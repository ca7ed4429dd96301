// Functions that contain an address, by the DWARF of one binary: the inlined ones around it and the compiled one. Used
// by symbolizer.cpp. elfutils walks all entries of a compilation unit for each query; a call tree makes tens of
// thousands of queries, so each unit is walked once here, into a table:
//
//   unit   ┌ main ──────────────┐┌ solve ───────────────────────────┐
//   inlined         ┌ dot ┐         ┌ apply ───────┐   ┌ norm ┐
//                                      ┌ dot ┐
//   table  |main    |dot  |main ||solve|apply|dot|apply|solve|norm|solve|     one binary search
#pragma once

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include <cstdint>
#include <vector>

namespace ardoise::knowledge_sources {

class DebugScopes {
 public:
  struct Found {
    Dwarf_Die* unit = nullptr;         // nullptr: no debug information for the address
    Dwarf_Addr bias = 0;               // to be subtracted from an address for libdw
    std::vector<Dwarf_Die> functions;  // innermost first; the last one is not inlined
  };

  // `module` has to outlive this object.
  explicit DebugScopes(Dwfl_Module* module);
  [[nodiscard]] Found find(Dwarf_Addr address);

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct Scope {
    Dwarf_Die die;
    std::uint32_t parent;  // scope that it was inlined into, or kNone
  };
  struct Range {
    Dwarf_Addr low, high;
    std::uint32_t scope, depth;
  };
  struct Segment {  // from `low` to the next segment
    Dwarf_Addr low;
    std::uint32_t scope;
  };
  struct Unit {
    Dwarf_Die* die;
    Dwarf_Addr bias;
    bool walked = false;
    std::vector<Scope> scopes;
    std::vector<Segment> segments;
  };
  struct UnitRange {
    Dwarf_Addr low, high;
    std::uint32_t unit;
  };

  void walk(Unit& unit);
  void walk(Unit& unit, Dwarf_Die die, std::uint32_t parent, std::uint32_t depth, std::vector<Range>& ranges);
  static std::vector<Segment> flatten(std::vector<Range> ranges);

  std::vector<Unit> units_;
  std::vector<UnitRange> unit_ranges_;  // sorted
};

}  // namespace ardoise::knowledge_sources
