// Queries on the sampled profile (sample_profile.hpp): names to show, times of call tree nodes, callers and callees.
// Pure functions of the model; used by summary, findings, report and export.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// "target::Solver::exchange_halo(int)"; "[libfoo.so]" for code without symbols.
[[nodiscard]] std::string full_name(const SampledFunction& function);
// Without parameters: "target::Solver::exchange_halo".
[[nodiscard]] std::string short_name(const SampledFunction& function);
// "__vfprintf_internal": "vfprintf_internal".
[[nodiscard]] inline std::string_view without_underscores(std::string_view symbol) {
  return symbol.substr(std::min(symbol.find_first_not_of('_'), symbol.size()));
}
// "assemble (heat.cpp:120)": with line_of().
[[nodiscard]] std::string name_and_place(const SampleProfile& samples, std::size_t function);
// A function's line with most time, else its first line; file "": unknown.
struct SourceLine {
  std::string file;
  std::uint32_t number = 0;
};
[[nodiscard]] SourceLine line_of(const SampleProfile& samples, std::size_t function);
// "heat.cpp:120" or "".
[[nodiscard]] std::string place_of(const SampleProfile& samples, std::size_t function);

// The line of line_of() for a function given by symbol and file, so that a function has one line everywhere;
// `otherwise` if it was not sampled.
[[nodiscard]] SourceLine line_as_sampled(const SampleProfile& samples, const std::string& symbol,
                                         const SourceLine& otherwise);
[[nodiscard]] std::string name_as_sampled(const SampleProfile& samples, const std::string& symbol,
                                          const std::string& source_file, std::uint32_t line);

[[nodiscard]] bool is_code(const SampledFunction& function);

// Each node's value plus all values below it. O(nodes).
[[nodiscard]] std::vector<double> node_totals(const CallTree& tree, std::vector<double> values);

// By function: the exact time in MPI calls made by it and its callees; recursion counts once.
[[nodiscard]] std::vector<double> mpi_beneath(const SampleProfile& samples);

// Whether the function belongs to the C library, to a library of a compiler, or to one of Python's.
[[nodiscard]] bool is_of_the_system(const SampledFunction& function);

// The function of this node of the call tree, or the innermost one of its callers that is the program's own.
[[nodiscard]] std::uint32_t function_of_program(const SampleProfile& samples, std::uint32_t node);

// The program's function that makes most calls of a POSIX function; "": not sampled, or several do.
[[nodiscard]] std::string caller_of_calls(const SampleProfile& s, const std::string& function);
// By function of the program: time in the kernel below it, without that of MPI and I/O calls.
[[nodiscard]] std::vector<double> kernel_beneath(const SampleProfile& samples);

struct CallShare {
  std::uint32_t function;  // kNoParent: no caller, the function is a root
  double total;
};
// Callers and callees of `function` with their parts of its time, largest first.
[[nodiscard]] std::vector<CallShare> callers_of(const SampleProfile& samples, const std::vector<double>& totals,
                                                std::uint32_t function);
[[nodiscard]] std::vector<CallShare> callees_of(const SampleProfile& samples, const std::vector<double>& totals,
                                                std::uint32_t function);

// The callers of a call site's function with their seconds in the site's calls, largest first. Looks past wrappers with
// one caller, and for a site without a name past functions without one. Empty: a single call path to a site with a
// name, or unknown.
[[nodiscard]] std::vector<CallShare> callers_of(const SampleProfile& samples, const CallSite& site);
// ", called by solve (62 %) and step (38 %)"; "": the site has a name and one caller, or nothing is known.
[[nodiscard]] std::string callers_in_sentence(const Application& application, const CallSite& site);

// Index of the first of these counters that was measured; counters.size(): none.
[[nodiscard]] std::size_t counter(const SampleProfile& samples, std::initializer_list<const char*> names);

// Ranks as ranges: "0–31, 34–63", at most `most` ranges, then "…".
[[nodiscard]] std::string rank_ranges(const std::vector<std::uint32_t>& ranks, std::size_t most);

}  // namespace ardoise::reports
