// One calling context tree for the whole program: each thread numbers its contexts itself; here they are merged by
// (caller, function). Built once, at the end, on the root analyzer. Each address is symbolised once for the program and
// gives one node for the function and one for each function inlined there.
//
//   thread's contexts           modules of its rank      this tree
//   1: ↑0 m0+0x1234   ────▶     m0 = /opt/solver   ────▶ main ─▶ solve ─▶ dot (inlined)
//   2: ↑1 m0+0x5678                                               └────▶ MPI_Allreduce
//
// - Inlined functions of system headers (std::vector's operator[] …) are not shown; their time belongs to the function
//   that they were inlined into.
// - Frames below the tool's own library in a stack are not shown: an MPI call is a child of the program's calling
//   function, and samples inside the tool are a function "(ardoise)".
// - Code without symbols is one function for each module, with an empty symbol.
// - A library of the compiler or the C library is one function: the one that was called.
// - A function without line information has the lines of its callers ("sin, heat.c:42"); lines of Python's libraries
//   only if the program has none.
// - Time in the kernel is "(kernel)": below the function that used it, or at the root if that is unknown.
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

inline constexpr std::uint32_t kNoNode = 0xFFFFFFFF;  // the root, which has no node
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
  // Location of a sample or call.
  struct Place {
    std::uint32_t node, line;  // kNoLine: unknown, or not the program's
    bool known;                // false: its context did not arrive
  };

  explicit ContextTree(const Resolver& resolver) : resolver_(resolver) {}

  // Selects the thread of the following places; borrowed until the next call.
  void begin(std::uint32_t rank, const ThreadSamples& thread);
  [[nodiscard]] Place sample(const SampleKey& key);
  [[nodiscard]] std::uint32_t call(const CallKey& key);    // its node
  [[nodiscard]] std::uint32_t caller(std::uint32_t node);  // parent node; "(unknown)" if there is none

  [[nodiscard]] const std::vector<Function>& functions() const { return functions_; }
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }  // parents before children

 private:
  // The end of a context's stack in the tree.
  struct State {
    enum : std::uint8_t { kNew, kOpen, kDone } state = kNew;
    bool known = true;                     // all of its callers arrived
    bool ends_in_tool = false;             // its innermost frame is the tool's
    bool passed_tool = false;              // it contains a frame of the tool
    std::uint32_t node = kNoNode;          // innermost function of the program
    std::uint32_t before_tool = kNoNode;   // node from which the program called the tool
    std::uint32_t line = kNoLine;          // innermost known line of the program itself
    bool own_line = false;                 // line is the innermost function's
    std::uint32_t callers_line = kNoLine;  // of functions without lines that it calls
    std::uint32_t runtime = kNoModule;     // compiler or C library in which the stack ends
  };
  // Functions at one address.
  struct Frames {
    std::vector<std::uint32_t> functions;  // outermost first; empty: the tool's
    std::uint32_t line = kNoLine;          // of the innermost function
  };

  State state_of(std::uint32_t context, bool partial);
  State extend(const State& caller, const ContextEntry& context, std::uint32_t pc_offset);
  const ContextEntry* find(std::uint32_t context) const;
  const Frames& frames(std::uint32_t module, std::uint64_t offset, bool instruction);
  std::uint32_t module_of(std::uint32_t number);
  std::uint32_t child(std::uint32_t node, std::uint32_t function);
  std::uint32_t called(instrument::PackClass record_class, std::uint32_t number);  // a function's node
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
  std::vector<State> states_[2];  // of the thread's contexts; [1]: below "(incomplete call stack)"
  std::unordered_map<std::uint32_t, std::uint32_t> rank_modules_;
};

}  // namespace ardoise::knowledge_sources
