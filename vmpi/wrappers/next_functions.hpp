// What is called behind our MPI functions: the library, or the next preloaded tool where it has the function, so that
// both tools see the call. The tables of real_functions.hpp are filled at the first MPI call of the process; a process
// that makes none (a shell that inherits the preload) pays nothing.
#pragma once

#include <type_traits>

#include "vmpi/real_functions.hpp"

namespace ardoise::vmpi {

// Fills `library`, `real` and `next_tool`. Any thread, any number of times.
void find_next_functions() noexcept;

// Ends the process with a sentence: the library in the process lacks the function in this position of the tables.
[[noreturn]] void report_missing_function(unsigned position) noexcept;

// What the tables hold up to the first call.
template <RealFunctions& kTable, auto kMember, class Function = std::remove_reference_t<decltype(kTable.*kMember)>>
struct FirstCall;

template <RealFunctions& kTable, auto kMember, class Result, class... Arguments>
struct FirstCall<kTable, kMember, Result (*)(Arguments...)> {
  static Result call(Arguments... arguments) {
    find_next_functions();
    const auto found = __atomic_load_n(&(kTable.*kMember), __ATOMIC_RELAXED);
    if (found == &call) report_missing_function(position());
    return found(arguments...);
  }
  static unsigned position() {
    const auto* const begin = reinterpret_cast<const char*>(&kTable);
    return static_cast<unsigned>((reinterpret_cast<const char*>(&(kTable.*kMember)) - begin) / sizeof(void (*)()));
  }
};

// MPI_Pcontrol, whose other arguments cannot be passed on.
template <RealFunctions& kTable, auto kMember, class Result, class... Arguments>
struct FirstCall<kTable, kMember, Result (*)(Arguments..., ...)> {
  static Result call(Arguments... arguments, ...) {
    find_next_functions();
    const auto found = __atomic_load_n(&(kTable.*kMember), __ATOMIC_RELAXED);
    return found == &call ? Result{} : found(arguments...);
  }
};

}  // namespace ardoise::vmpi
