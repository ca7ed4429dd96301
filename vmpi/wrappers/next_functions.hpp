// The functions behind our MPI functions: those of the next preloaded tool, else the library's, so that both tools see
// the call. The tables of real_functions.hpp are filled at the first MPI call of the process; a process without MPI
// calls (a shell that inherits the preload) pays nothing.
#pragma once

#include <type_traits>

#include "vmpi/real_functions.hpp"

namespace ardoise::vmpi {

// Fills `library`, `real` and `next_tool`. Any thread, any number of times.
void find_next_functions() noexcept;

// Ends the process with one sentence: its MPI library lacks the function at this position of the tables.
[[noreturn]] void report_missing_function(unsigned position) noexcept;

// Initial content of the tables.
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
