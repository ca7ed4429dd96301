// One calling context tree for the whole program: threads number their contexts each in its own way, here they meet by
// (caller, function). Made once, at the end, on the root analyzer. A context's address is symbolised once for the whole
// program and gives one node for the function and one for each that the compiler inlined there.
//
//   thread's contexts           modules of its rank      this tree
//   1: ↑0 m0+0x1234   ────▶     m0 = /opt/solver   ────▶ main ─▶ solve ─▶ dot (inlined)
//   2: ↑1 m0+0x5678                                               └────▶ MPI_Allreduce
//
// - Inlined functions of system headers (std::vector's operator[] …) are not shown; their time is that of the function
//   that they were inlined into.
// - What lies beneath the tool's own library in a stack is not the program's: an MPI call hangs where the program made
//   it, and samples inside the tool are a function "(ardoise)".
// - Code without symbols is one function for each module, with an empty symbol.
// - A library of the compiler or the C library is one function: the one that was called.
// - A function whose lines are not known has those that it was called from ("sin, heat.c:42").
// - Time in the kernel is "(kernel)": beneath the function that used it, or at the root where that is not known.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "knowledge_sources/contexts/thread_samples.hpp"
#include "knowledge_sources/interface/resolver.hpp"

namespace ardoise::knowledge_sources {

inline constexpr std::uint32_t kNoNode = 0xFFFFFFFF;  // the root of the tree, which is no node itself
inline constexpr std::uint32_t kNoLine = 0xFFFFFFFF;
inline constexpr std::uint32_t kNoModule = 0xFFFFFFFF;

class ContextTree {
 public:
  struct Function {
    std::string kind;  // "code", "mpi", "posix", "tool"
    std::string symbol, source_file;
    std::uint32_t line = 0;
    std::string module, optimization;
    friend constexpr auto operator<=>(const Function&, const Function&) = default;
  };
  struct Line {
    std::uint32_t function;
    std::string source_file;
    std::uint32_t line;
    friend constexpr auto operator<=>(const Line&, const Line&) = default;
  };
  struct Node {
    std::uint32_t parent, function;
  };
  // Where a sample or call belongs.
  struct Place {
    std::uint32_t node, line;  // kNoLine: not known, or not the program's
    bool known;                // false: its context didn't arrive
  };

  explicit ContextTree(const Resolver& resolver) : resolver_(resolver) {}

  // The thread that the following places are of; borrowed until the next one.
  void begin(std::uint32_t rank, const ThreadSamples& thread);
  [[nodiscard]] Place sample(const SampleKey& key);
  [[nodiscard]] std::uint32_t call(const CallKey& key);  // its node
  [[nodiscard]] std::uint32_t caller(std::uint32_t node);  // the node above; "(unknown)" where there is none

  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }  // parents before children

 private:
  // Where the stack of a context ends in the tree.
  struct State {
    enum : std::uint8_t { kNew, kOpen, kDone } state = kNew;
    bool known = true;                    // all of its callers arrived
    bool ends_in_tool = false;            // its innermost frame is the tool's
    bool passed_tool = false;             // a frame on the way is …
    std::uint32_t node = kNoNode;         // innermost function of the program
    std::uint32_t before_tool = kNoNode;  // … and this is where the program called it
    std::uint32_t line = kNoLine;         // innermost one that is known of the program itself
    bool own_line = false;                // it is the innermost function's
    std::uint32_t runtime = kNoModule;    // the compiler's or C library that the stack ends in
  };
  // The functions at one address.
  struct Frames {
    std::vector<std::uint32_t> functions;  // outermost first; empty: the tool's
    std::uint32_t line = kNoLine;          // of the innermost
  };

  State state_of(std::uint32_t context, bool partial);
  State extend(const State& caller, const ContextEntry& context, std::uint32_t pc_offset);
  const ContextEntry* find(std::uint32_t context) const;
  const Frames& frames(std::uint32_t module, std::uint64_t offset, bool instruction);
  std::uint32_t module_of(std::uint32_t number);
  std::uint32_t child(std::uint32_t node, std::uint32_t function);
  std::uint32_t called(instrument::PackClass record_class, std::uint32_t number);  // a function
  std::uint32_t function(Function function);
  std::uint32_t line_id(Line line);
  std::uint32_t special(const char* kind, const char* name) { return function({kind, name, "", 0, "", ""}); }

  struct Module {
    std::string path, build_id;
    bool tool, runtime;
  };
  struct Address {
    std::uint64_t offset;
    std::uint32_t module;
    bool instruction;
    friend constexpr auto operator<=>(const Address&, const Address&) = default;
  };

  const Resolver& resolver_;
  std::vector<Function> functions_;
  std::map<Function, std::uint32_t> function_ids_;
  std::vector<Line> lines_;
  std::map<Line, std::uint32_t> line_ids_;
  std::vector<Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;  // by (node, function)
  std::vector<Module> modules_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> module_ids_;
  std::map<Address, Frames> frames_;

  std::uint32_t rank_ = 0;
  const ThreadSamples* thread_ = nullptr;
  std::vector<State> states_[2];  // of the thread's contexts; [1]: beneath "(incomplete call stack)"
  std::unordered_map<std::uint32_t, std::uint32_t> rank_modules_;
};

}  // namespace ardoise::knowledge_sources
