// The CPython interpreter of this process, and the Python side of call stacks. Frames of its evaluation loop on the
// native stack stand for Python's own frames, which the interpreter keeps in a list for each thread:
//
//   native, innermost first:  ddot  dot.so   [loop ………]  call  [loop]  main        (the interpreter's own: [ ])
//   Python's list:                            f   g  |          <module> |          | a call of the loop begins
//   merged:                   ddot  dot.so    f   g              <module>
//
// The code of the interpreter, mpi4py and ctypes is left out, and so is everything below the import of modules. The
// only function of Python that is called is PyGILState_GetThisThreadState, which reads a thread-specific value. Signal
// handlers read frames through checked_memory.hpp. Limits: CPython 3.9 to 3.13, loaded before MPI_Init; the thread's
// state in the main interpreter; the functions of one interpreter.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "instrument/python/codes.hpp"

namespace ardoise::instrument::python {

class Interpreter {
 public:
  static constexpr std::size_t kMaxDepth = 256;

  // Finds the interpreter. Null: none, or one of an unsupported version; `why` then has the reason. May wait.
  static std::unique_ptr<Interpreter> find(DefinitionQueue& definitions, std::string& why);

  // The place that a return address in this code represents: in Python's innermost function, or the address itself.
  // `in_call`: the thread made this call from code that Python called; otherwise it may be anywhere.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t return_address, bool in_call) noexcept;

  // A value that changes whenever Python's frames of this thread change; not 0.
  [[nodiscard]] std::uint64_t fingerprint(bool in_call) const noexcept;

  struct Scratch {  // of one thread
    struct Frame {
      std::uint64_t place;
      bool entry;
    };
    std::array<Frame, kMaxDepth> python;
    std::array<std::uint64_t, kMaxDepth> merged;
  };
  struct Merged {
    std::span<const std::uint64_t> frames;  // innermost first
    bool keeps_innermost = false;           // the first native frame is also the first of these
  };
  // native: innermost first. in_call: as above. Async-signal-safe.
  [[nodiscard]] Merged merge(std::span<const std::uint64_t> native, Scratch& scratch, bool in_call) noexcept;

  [[nodiscard]] std::uint64_t hash_of(std::uint32_t code) const noexcept { return codes_.hash_of(code); }

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
    [[nodiscard]] bool holds(std::uint64_t address) const { return address - begin < end - begin; }
  };
  Interpreter(const Layout& layout, DefinitionQueue& definitions) : layout_(layout), codes_(definitions) {}
  [[nodiscard]] bool is_own(std::uint64_t address) const;
  // Calls take(code, instruction, entry) for each frame from the innermost on, until it returns false.
  template <class Memory, class Take>
  void walk(Memory& memory, Take take) const noexcept;
  template <class Memory>
  std::size_t read_frames(Memory& memory, Scratch& scratch) noexcept;

  const Layout& layout_;
  void* (*thread_state_)() = nullptr;
  std::uint64_t code_type_ = 0;
  Range loop_;
  std::array<Range, 8> own_{};
  Codes codes_;
};

// The interpreter of this process, from MPI_Init on; nullptr: none.
extern constinit std::atomic<Interpreter*> interpreter;

}  // namespace ardoise::instrument::python
