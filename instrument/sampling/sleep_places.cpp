#include "instrument/sampling/sleep_places.hpp"

#include <fmt/core.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "instrument/machine/modules.hpp"
#include "instrument/machine/small_file.hpp"

namespace ardoise::instrument {
namespace {

bool is_tracing_restricted() noexcept {
  std::array<char, 16> room;
  const std::string_view scope = read_small_file("/proc/sys/kernel/yama/ptrace_scope", room);
  return !scope.empty() && scope.front() != '0';
}

// Code of the system, of compilers' runtimes and of interpreters, which sleeps for its caller.
bool is_of_system(std::uint64_t address) {
  constexpr std::array kNames = {"libc.",    "libc-",    "libpthread", "ld-linux", "librt.", "libstdc++",
                                 "libgcc_s", "libgomp.", "libiomp5",   "libomp.",  "python", "libpython"};
  if (python::is_python(address)) return false;
  const LoadedObject object = find_object_without_lock(address);
  if (object.map == nullptr) return true;
  const std::string_view path = object.map->l_name == nullptr ? "" : object.map->l_name;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::ranges::any_of(kNames, [&](std::string_view each) { return name.starts_with(each); });
}

}  // namespace

// "230 0x0 0x0 0x7ffd518a4570 0x0 0x0 0x0 0x7ffd518a4540 0x7fdfb265a2ad\n", or "-1 0x7ffd518a4540 0x7fdfb265a2ad\n".
SleepRegisters sleep_registers(std::string_view text) noexcept {
  std::array<std::uint64_t, 2> last{};
  std::size_t numbers = 0;
  for (std::size_t at = text.find("0x"); at != std::string_view::npos; at = text.find("0x", at + 2)) {
    std::uint64_t number = 0;
    for (std::size_t i = at + 2; i < text.size(); ++i) {
      const char digit = text[i];
      const bool is_decimal = digit >= '0' && digit <= '9', is_letter = digit >= 'a' && digit <= 'f';
      if (!is_decimal && !is_letter) break;
      number = number << 4 | static_cast<std::uint64_t>(is_decimal ? digit - '0' : digit - 'a' + 10);
    }
    last = {last[1], number};
    ++numbers;
  }
  return numbers < 2 ? SleepRegisters{} : SleepRegisters{last[0], last[1]};
}

SleepPlaces::SleepPlaces(std::uint32_t tid) {
  // Absolute: the survivor, another process, reads it.
  fmt::format_to_n(path_.data(), path_.size() - 1, "/proc/{}/task/{}/syscall", ::getpid(), tid);
  may_look_ = !is_tracing_restricted();
}

void SleepPlaces::look() noexcept {
  if (!may_look_) return;
  std::array<char, 256> room;
  const std::string_view text = read_small_file(path_.data(), room);
  may_look_ = !text.empty();
  const SleepRegisters registers = sleep_registers(text);
  if (registers.stack_pointer == 0 || registers.program_counter == 0) return;
  std::array<std::uint64_t, 2 * kFrames> frames;
  const FrameRegisters from{registers.program_counter, registers.stack_pointer, 0, 0, false, nullptr};
  std::span<const std::uint64_t> stack = std::span(frames).first(unwinder_.walk(from, {}, frames).frames);
  // The survivor has the thread-local memory of the thread that called MPI_Init, and so the state of its Python.
  if (python::Interpreter* const interpreter = python::interpreter.load(std::memory_order_acquire))
    stack = interpreter->merge(stack, python_, false).frames;
  // It may have woken up meanwhile.
  if (sleep_registers(read_small_file(path_.data(), room)) == registers) note(stack);
}

void SleepPlaces::note(std::span<const std::uint64_t> stack) noexcept {
  stack = stack.first(std::min(stack.size(), kFrames));
  for (Stack& each : stacks_) {
    const std::uint32_t looks = each.looks.load(std::memory_order_relaxed);
    if (looks == 0) {
      each.count = static_cast<std::uint32_t>(stack.size());
      std::ranges::copy(stack, each.frames.begin());
    } else if (!std::ranges::equal(stack, std::span(each.frames).first(each.count))) {
      continue;
    }
    return each.looks.store(looks + 1, std::memory_order_release);
  }
}

std::optional<SleepPlaces::Place> SleepPlaces::most() const {
  std::map<std::uint64_t, Place> places;  // by innermost caller
  for (const Stack& each : stacks_) {
    const std::uint32_t looks = each.looks.load(std::memory_order_acquire);
    if (looks == 0) break;
    Place place{{}, looks};
    std::size_t count = 0;
    for (const std::uint64_t address : std::span(each.frames).first(each.count)) {
      if (count < place.callers.size() && !is_of_system(address)) place.callers[count++] = address;
    }
    if (count == 0) continue;
    const auto [known, is_new] = places.try_emplace(place.callers[0], place);
    if (!is_new) known->second.looks += looks;
  }
  const auto most = std::ranges::max_element(places, {}, [](const auto& each) { return each.second.looks; });
  return most == places.end() ? std::nullopt : std::optional(most->second);
}

}  // namespace ardoise::instrument
