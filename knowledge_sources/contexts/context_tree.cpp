#include "knowledge_sources/contexts/context_tree.hpp"

#include <algorithm>
#include <utility>

#include "knowledge_sources/calls/functions.hpp"
#include "knowledge_sources/contexts/runtime_library.hpp"
#include "reports/text/python_files.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kInstruction = 1;  // ContextRecord::flags
constexpr const char* kIncomplete = "(incomplete call stack)";
constexpr const char* kUnknown = "(unknown)";
constexpr const char* kKernel = "(kernel)";

bool is_tool(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libardoise") || name.starts_with("libvmpi");
}

bool from_system_header(const SourceFrame& frame) {
  return frame.function_file.starts_with("/usr/include/") || frame.function_file.starts_with("/usr/lib/gcc/");
}

}  // namespace

void ContextTree::begin(std::uint32_t rank, const ThreadSamples& thread) {
  if (rank != rank_) rank_modules_.clear();
  rank_ = rank;
  thread_ = &thread;
  for (auto& states : states_) states.assign(thread.contexts.size(), State{});
}

const ContextEntry* ContextTree::find(std::uint32_t context) const {
  const auto place = std::ranges::lower_bound(thread_->contexts, context, {}, &ContextEntry::key);
  return place != thread_->contexts.end() && place->key == context ? &*place : nullptr;
}

std::uint32_t ContextTree::module_of(std::uint32_t number) {
  const auto [place, added] = rank_modules_.try_emplace(number);
  if (!added) return place->second;
  const ModuleFacts facts = resolver_.module(rank_, number);
  const auto [id, fresh] = module_ids_.try_emplace({std::string(facts.path), std::string(facts.build_id)},
                                                   static_cast<std::uint32_t>(modules_.size()));
  if (fresh)
    modules_.push_back(
        {std::string(facts.path), std::string(facts.build_id), is_tool(facts.path), is_runtime_library(facts.path)});
  place->second = id->second;
  return id->second;
}

std::uint32_t ContextTree::function(Function function) {
  const auto [place, added] =
      function_ids_.try_emplace(std::move(function), static_cast<std::uint32_t>(functions_.size()));
  if (added) functions_.push_back(place->first);
  return place->second;
}

std::uint32_t ContextTree::line_id(Line line) {
  const auto [place, added] = line_ids_.try_emplace(std::move(line), static_cast<std::uint32_t>(lines_.size()));
  if (added) lines_.push_back(place->first);
  return place->second;
}

std::uint32_t ContextTree::child(std::uint32_t node, std::uint32_t function) {
  const auto [place, added] =
      children_.try_emplace(std::uint64_t{node} << 32 | function, static_cast<std::uint32_t>(nodes_.size()));
  if (added) nodes_.push_back({node, function});
  return place->second;
}

const ContextTree::Frames& ContextTree::frames(std::uint32_t module, std::uint64_t offset, bool instruction) {
  const auto [place, added] = frames_.try_emplace(Address{offset, module, instruction});
  Frames& result = place->second;
  if (!added || modules_[module].tool) return result;
  const Module& binary = modules_[module];
  const auto found = resolver_.frames({binary.path, binary.build_id}, offset + (instruction ? 1 : 0));
  for (std::size_t i = found.size(); i-- != 0;) {  // outermost first
    const SourceFrame& frame = found[i];
    if (frame.symbol.empty()) continue;
    const bool inlined = i + 1 != found.size();
    if (inlined && from_system_header(frame)) continue;
    const std::string name = binary.runtime ? entry_name(frame.symbol) : frame.symbol;
    result.functions.push_back(
        function({"code", name, frame.function_file, frame.function_line, binary.path, frame.optimization}));
    result.line = kNoLine;
    if (binary.runtime) break;
    if (frame.line == 0) continue;
    result.line = line_id({result.functions.back(), frame.source_file, frame.line});
  }
  if (result.functions.empty()) {
    result.functions.push_back(binary.path.empty() ? special("code", kUnknown)
                                                   : function({"code", "", "", 0, binary.path, ""}));
  }
  return result;
}

// The state of a stack in which `caller` calls `context`; the context of an instruction applies at any of its
// instructions.
ContextTree::State ContextTree::extend(const State& caller, const ContextEntry& context, std::uint32_t pc_offset) {
  State result = caller;
  result.state = State::kDone;
  if (context.module == instrument::kPythonModule) {
    const SourceFrame frame = resolver_.python(rank_, context.offset);
    const std::string symbol = frame.symbol.empty() ? kUnknown : frame.symbol;
    const std::uint32_t at =
        function({"code", symbol, frame.function_file, frame.function_line, frame.function_file, ""});
    result.node = child(result.node, at);
    result.own_line = frame.line != 0;
    if (result.own_line) result.line = line_id({at, frame.source_file, frame.line});
    if (caller.callers_line == kNoLine || !reports::is_python_library(frame.source_file))
      result.callers_line = result.line;
    result.runtime = kNoModule;
    result.ends_in_tool = false;
    return result;
  }
  const std::uint32_t module = module_of(context.module);
  if (modules_[module].tool) {
    if (!caller.passed_tool) result.before_tool = caller.node;
    result.passed_tool = result.ends_in_tool = true;
    return result;
  }
  result.ends_in_tool = false;
  if (caller.runtime == module) return result;
  const bool is_instruction = (context.flags & kInstruction) != 0;
  const Frames& at = frames(module, context.offset + pc_offset, is_instruction);
  result.runtime = modules_[module].runtime ? module : kNoModule;
  // Somewhere in the function: functions inlined at its start may not contain the sample.
  if (is_instruction && pc_offset == 0 && at.functions.size() > 1) {
    result.node = child(result.node, at.functions.front());
    result.line = result.callers_line = kNoLine;
    result.own_line = false;
    return result;
  }
  for (const std::uint32_t each : at.functions) result.node = child(result.node, each);
  result.own_line = result.runtime == kNoModule && at.line != kNoLine;
  if (result.own_line) result.callers_line = at.line;
  result.line = result.callers_line;
  return result;
}

ContextTree::State ContextTree::state_of(std::uint32_t context, bool partial) {
  State root{.state = State::kDone};
  if (partial) root.node = child(kNoNode, special("code", kIncomplete));
  auto& states = states_[partial ? 1 : 0];
  std::vector<const ContextEntry*> path;  // unresolved ones, innermost first
  State state = root;
  for (std::uint32_t number = context; number != 0;) {
    const ContextEntry* const entry = find(number);
    State* const known =
        entry == nullptr ? nullptr : &states[static_cast<std::size_t>(entry - thread_->contexts.data())];
    if (known == nullptr || known->state == State::kOpen) {  // it did not arrive, or its callers form a cycle
      state.known = false;
      state.node = child(root.node, special("code", kUnknown));
      break;
    }
    if (known->state == State::kDone) {
      state = *known;
      break;
    }
    known->state = State::kOpen;
    path.push_back(entry);
    number = entry->parent;
  }
  for (std::size_t i = path.size(); i-- != 0;) {
    state = extend(state, *path[i], 0);
    states[static_cast<std::size_t>(path[i] - thread_->contexts.data())] = state;
  }
  return state;
}

std::uint32_t ContextTree::called(instrument::PackClass record_class, std::uint32_t number) {
  return special(record_class == instrument::PackClass::kMpi ? "mpi" : "posix",
                 function_info(record_class, number).name.c_str());
}

ContextTree::Place ContextTree::sample(const SampleKey& key) {
  const bool partial = (key.flags & instrument::kPartialUnwind) != 0;
  const auto record_class =
      (key.flags & instrument::kPosixCall) != 0 ? instrument::PackClass::kPosix : instrument::PackClass::kMpi;
  const bool in_kernel = (key.flags & kKernelPart) != 0;
  if (in_kernel && key.context == 0) return {child(kNoNode, special("code", kKernel)), kNoLine, true};
  const ContextEntry* const entry = find(key.context);
  if (entry == nullptr) {
    std::uint32_t node = child(kNoNode, special("code", kUnknown));
    if (key.function != 0) node = child(node, called(record_class, key.function - 1));
    return {node, kNoLine, false};
  }
  std::uint32_t line = kNoLine;
  State state;
  if ((entry->flags & kInstruction) == 0) {
    state = state_of(key.context, partial);
    if (entry->module == instrument::kPythonModule) line = state.line;
  } else if (key.function != 0) {
    // Frames inside MPI are not the program's.
    state = state_of(entry->parent, partial);
    state.ends_in_tool = false;
  } else {
    state = extend(state_of(entry->parent, partial), *entry, key.pc_offset);
    line = state.line;
    if (!state.own_line && line != kNoLine) {
      line = line_id({nodes_[state.node].function, lines_[line].source_file, lines_[line].line});
    }
  }
  std::uint32_t node = state.node;
  if (key.function != 0) {
    node = child(state.passed_tool ? state.before_tool : state.node, called(record_class, key.function - 1));
    line = kNoLine;
  } else if (state.ends_in_tool || (key.flags & instrument::kInsideTool) != 0) {
    node = child(state.passed_tool ? state.before_tool : state.node, special("tool", "(ardoise)"));
    line = kNoLine;
  } else if ((key.flags & instrument::kTruncatedContext) != 0) {
    node = child(state.node, special("code", "(deeper than the call tree's memory)"));
    line = kNoLine;
  } else if (in_kernel) {
    node = child(state.node, special("code", kKernel));
    line = kNoLine;
  }
  return {node, line, state.known};
}

std::uint32_t ContextTree::caller(std::uint32_t node) {
  const std::uint32_t parent = nodes_[node].parent;
  return parent != kNoNode ? parent : child(kNoNode, special("code", kUnknown));
}

std::uint32_t ContextTree::call(const CallKey& key) {
  State state;
  if (key.context == 0) {
    state.node = child(kNoNode, special("code", kUnknown));
  } else {
    state = state_of(key.context, false);
  }
  return child(state.passed_tool ? state.before_tool : state.node,
               called(static_cast<instrument::PackClass>(key.record_class), key.function));
}

}  // namespace ardoise::knowledge_sources
