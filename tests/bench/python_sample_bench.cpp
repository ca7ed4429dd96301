// The cost of Python's part of a stack in a sample, as a library that a Python script calls several functions deep: the
// walk of the native stack, and the same with Python's frames read (each page checked, as in the signal handler) and
// merged. Medians, ns.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "instrument/python/interpreter.hpp"
#include "instrument/unwind/unwinder.hpp"

namespace {

using namespace ardoise::instrument;

template <class Work>
double median_of(int runs, Work work) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[static_cast<std::size_t>(runs) / 2];
}

}  // namespace

// native_ns, merged_ns: the results; the number of frames after merging, 0: no Python found.
extern "C" [[gnu::visibility("default")]] int measure_python_sample(double* native_ns, double* merged_ns) {
  BinPool pool(1 << 20, 32 << 10, 0.5);
  DefinitionQueue queue(pool);
  std::string why;
  const auto interpreter = python::Interpreter::find(queue, why);
  if (interpreter == nullptr) return 0;
  Unwinder unwinder;
  std::vector<std::uint64_t> frames(256);
  const auto scratch = std::make_unique<python::Interpreter::Scratch>();
  FrameRegisters here;
  here.pc = reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
  asm volatile("mov %%rbx, %0" : "=r"(here.rbx));
  const auto* const frame = static_cast<const std::uint64_t*>(__builtin_frame_address(0));
  here.rbp = frame[0];
  here.sp = reinterpret_cast<std::uint64_t>(frame + 2);
  here.pc_is_return_address = true;
  const StackBounds stack{here.sp, here.sp + (1U << 16)};
  std::size_t native = 0, merged = 0;
  const auto walk = [&] { native = unwinder.walk(here, stack, frames).frames; };
  *native_ns = median_of(2001, walk);
  *merged_ns = median_of(2001, [&] {
    walk();
    merged = interpreter->merge({frames.data(), native}, *scratch, false).frames.size();
  });
  return static_cast<int>(merged);
}
