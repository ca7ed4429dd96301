#include "instrument/python/interpreter.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>

#include "instrument/machine/modules.hpp"
#include "instrument/python/checked_memory.hpp"

namespace ardoise::instrument::python {

constinit std::atomic<Interpreter*> interpreter = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local CheckedMemory* CheckedOnce::memory_of_call = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local CheckedMemory CheckedOnce::checked{};
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint64_t CheckedOnce::checked_since = 0;

namespace {

template <class Function>
Function symbol(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

// Bindings between Python and native code.
bool is_binding(std::string_view path) {
  return path.find("/mpi4py/") != path.npos || path.find("/_ctypes.") != path.npos ||
         path.find("/libffi.so") != path.npos;
}

}  // namespace

std::unique_ptr<Interpreter> Interpreter::find(DefinitionQueue& definitions, std::string& why) {
  const auto version = symbol<const char* (*)()>("Py_GetVersion");
  const auto state = symbol<void* (*)()>("PyGILState_GetThisThreadState");
  const auto initialized = symbol<int (*)()>("Py_IsInitialized");
  void* const loop = symbol<void*>("_PyEval_EvalFrameDefault");
  void* const type = symbol<void*>("PyCode_Type");
  if (version == nullptr || state == nullptr || initialized == nullptr || initialized() == 0) return nullptr;
  const std::string_view text = version();
  const Layout* const layout = layout_of(text);
  Dl_info info{};
  const ElfW(Sym)* found = nullptr;
  if (layout == nullptr || loop == nullptr || type == nullptr ||
      ::dladdr1(loop, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&found)), RTLD_DL_SYMENT) == 0 ||
      found == nullptr) {
    why = fmt::format("Functions of Python are not seen: version {} is none of 3.9 to 3.13.",
                      text.substr(0, text.find(' ')));
    return nullptr;
  }
  std::unique_ptr<Interpreter> result(new Interpreter(*layout, definitions));
  if (!result->codes_.ready()) return nullptr;
  result->thread_state_ = state;
  result->code_type_ = reinterpret_cast<std::uint64_t>(type);
  const auto begin = reinterpret_cast<std::uint64_t>(loop);
  result->loop_ = {begin, begin + found->st_size};
  std::size_t known = 0;
  for (const LoadedModule& module : loaded_modules()) {
    const bool is_interpreter = begin - module.begin < module.end - module.begin;
    if ((is_interpreter || is_binding(module.path)) && known < result->own_.size())
      result->own_[known++] = {module.begin, module.end};
  }
  return result;
}

bool Interpreter::is_own(std::uint64_t address) const {
  return std::any_of(own_.begin(), own_.end(), [&](const Range& range) { return range.holds(address); });
}

template <class Memory, class Take>
void Interpreter::walk(Memory& memory, Take take) const noexcept {
  auto frame = reinterpret_cast<std::uint64_t>(thread_state_());
  if (frame == 0) return;
  // The thread's state, and the structure of its running loop, live as long as the thread can find them.
  OwnMemory own;
  if (layout_.through != 0 && !own.read(frame + layout_.through, frame)) return;
  if (!own.read(frame + layout_.current_frame, frame)) return;
  for (std::size_t depth = 0; frame != 0 && depth < 2 * kMaxDepth; ++depth) {
    std::uint64_t code = 0, previous = 0, type = 0;
    std::uint8_t mark = 0;
    if (!memory.read(frame + layout_.code, code) || !memory.read(frame + layout_.previous, previous)) return;
    if (layout_.entry_kind != EntryFrame::kEach && !memory.read(frame + layout_.entry, mark)) return;
    const bool of_loops_caller = layout_.entry_kind == EntryFrame::kOwner && mark == kCStack;
    if (!of_loops_caller && memory.read(code + kType, type) && type == code_type_) {
      std::uint64_t instruction = 0;
      if (layout_.instruction_unit != 0) {
        std::int32_t last = 0;
        if (!memory.read(frame + layout_.instruction, last)) return;
        instruction = last < 0 ? 0 : static_cast<std::uint64_t>(last) * layout_.instruction_unit;
      } else {
        std::uint64_t pointer = 0;
        if (!memory.read(frame + layout_.instruction, pointer)) return;
        instruction = pointer - std::min(pointer, code + layout_.bytecode);
      }
      bool entry = layout_.entry_kind == EntryFrame::kEach || mark == 1;
      if (layout_.entry_kind == EntryFrame::kOwner) {
        std::uint8_t below = kCStack;
        if (previous != 0 && !memory.read(previous + layout_.entry, below)) return;
        entry = below == kCStack;
      }
      if (!take(code, static_cast<std::uint32_t>(std::min<std::uint64_t>(instruction, UINT32_MAX)), entry)) return;
    }
    frame = previous;
  }
}

// Calls use() with the reader that suits the thread's situation.
template <class Use>
auto with_memory(bool in_call, Use use) noexcept {
  if (in_call) {
    OwnMemory memory;
    return use(memory);
  }
  if (CheckedOnce::memory_of_call != nullptr) return use(*CheckedOnce::memory_of_call);
  CheckedMemory memory;
  return use(memory);
}

std::uint64_t Interpreter::fingerprint(bool in_call) const noexcept {
  std::uint64_t hash = 1;
  with_memory(in_call, [&](auto& memory) {
    walk(memory, [&](std::uint64_t code, std::uint32_t instruction, bool) {
      hash = (hash ^ (code + instruction)) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 32;
      return true;
    });
  });
  return hash | 1;
}

template <class Memory>
std::size_t Interpreter::read_frames(Memory& memory, Scratch& scratch) noexcept {
  std::size_t count = 0;
  walk(memory, [&](std::uint64_t code, std::uint32_t instruction, bool entry) {
    const std::uint32_t number = codes_.number_of(code, layout_, memory);
    scratch.python[count++] = {address_of(number, number <= kImport ? 0 : instruction), entry};
    return count < scratch.python.size();
  });
  return count;
}

std::uint64_t Interpreter::place_of(std::uint64_t return_address, bool in_call) noexcept {
  if (!is_own(return_address)) return return_address;
  std::uint64_t place = return_address;
  with_memory(in_call, [&](auto& memory) {
    walk(memory, [&](std::uint64_t code, std::uint32_t instruction, bool) {
      const std::uint32_t number = codes_.number_of(code, layout_, memory);
      place = address_of(number, number <= kImport ? 0 : instruction);
      return false;
    });
  });
  return place;
}

Interpreter::Merged Interpreter::merge(std::span<const std::uint64_t> native, Scratch& scratch, bool in_call) noexcept {
  const std::size_t frames = with_memory(in_call, [&](auto& memory) { return read_frames(memory, scratch); });
  if (frames == 0) return {native, true};
  Merged merged;
  std::size_t count = 0, next = 0;
  const auto put = [&](std::uint64_t place) {
    if (count < scratch.merged.size()) scratch.merged[count++] = place;
  };
  // Code below an import belongs to Python.
  const auto put_python = [&](std::uint64_t place) {
    if (code_of(place) == kImport) {
      count = 0;
      merged.keeps_innermost = false;
    }
    put(place);
  };
  for (std::size_t i = 0; i < native.size(); ++i) {
    if (!is_own(native[i])) {
      merged.keeps_innermost = merged.keeps_innermost || i == 0;
      put(native[i]);
    } else if (loop_.holds(native[i])) {
      for (bool entry = false; next < frames && !entry; ++next) {
        put_python(scratch.python[next].place);
        entry = scratch.python[next].entry;
      }
    }
  }
  // Calls of the loop were not recognised, or the stack could not be followed to its end.
  for (; next < frames; ++next) put_python(scratch.python[next].place);
  merged.frames = std::span(scratch.merged).first(count);
  return merged;
}

}  // namespace ardoise::instrument::python
