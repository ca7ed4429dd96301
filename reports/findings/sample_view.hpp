// What renderers ask of the sampled profile (sample_profile.hpp) beyond its lists: names to show, the time of each node
// of the call tree, who calls whom. Pure functions of the model; used by summary, findings, report and export.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "reports/model.hpp"

namespace ardoise::reports {

// "target::Solver::exchange_halo(int)"; "[libfoo.so]" for code without symbols.
[[nodiscard]] std::string full_name(const SampledFunction& function);
// Without parameters, which make C++ names unreadable: "target::Solver::exchange_halo".
[[nodiscard]] std::string short_name(const SampledFunction& function);
// "assemble (heat.cpp:120)": with the line that took most of its time, else with where it begins.
[[nodiscard]] std::string name_and_place(const SampleProfile& samples, std::size_t function);
// The line that took most of a function's time, else the one where it begins; file "": not known.
struct SourceLine {
  std::string file;
  std::uint32_t number = 0;
};
[[nodiscard]] SourceLine line_of(const SampleProfile& samples, std::size_t function);
// "heat.cpp:120" or "".
[[nodiscard]] std::string place_of(const SampleProfile& samples, std::size_t function);

// The same for a function that another part of the model names by its symbol and a file of it, with a line of its own
// choice: the line of the sampled profile, so that a function has one line everywhere; `otherwise` where it was not
// sampled.
[[nodiscard]] SourceLine line_as_sampled(const SampleProfile& samples, const std::string& symbol,
                                         const SourceLine& otherwise);
[[nodiscard]] std::string name_as_sampled(const SampleProfile& samples, const std::string& symbol,
                                          const std::string& source_file, std::uint32_t line);

[[nodiscard]] bool is_code(const SampledFunction& function);

// Of each node with everything beneath. Sums over parents: O(nodes).
[[nodiscard]] std::vector<double> node_totals(const CallTree& tree, std::vector<double> values);

// The exact time in MPI calls that each function made, itself or in what it called; recursion counts once.
[[nodiscard]] std::vector<double> mpi_beneath(const SampleProfile& samples);

struct CallShare {
  std::uint32_t function;  // kNoParent: none, the function is a root
  double total;
};
// Who called `function` and what it called, with the time of it that this was; the greatest first.
[[nodiscard]] std::vector<CallShare> callers_of(const SampleProfile& samples, const std::vector<double>& totals,
                                                std::uint32_t function);
[[nodiscard]] std::vector<CallShare> callees_of(const SampleProfile& samples, const std::vector<double>& totals,
                                                std::uint32_t function);

// Where a call site's function is called from in several places, these: what each takes of the time of the calls,
// seconds, the greatest first. Of wrappers, the functions above that differ. Empty: there is one way to it, or it is
// not known.
[[nodiscard]] std::vector<CallShare> callers_of(const SampleProfile& samples, const CallSite& site);
// ", there for solve (62 %) and step (38 %)"; "" where they are not several.
[[nodiscard]] std::string callers_in_sentence(const Application& application, const CallSite& site);

// Index of the first of these that was counted; that of the end without any.
[[nodiscard]] std::size_t counter(const SampleProfile& samples, std::initializer_list<const char*> names);

// Ranks as ranges: "0–31, 34–63", at most `most` ranges, then "…".
[[nodiscard]] std::string rank_ranges(const std::vector<std::uint32_t>& ranks, std::size_t most);

}  // namespace ardoise::reports
