// Work in libraries that the program calls again and again for one purpose: memory, locks, conversion to and from text.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "reports/findings/file_view.hpp"
#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/findings/thread_work.hpp"
#include "reports/losses/losses.hpp"
#include "reports/losses/thresholds.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {
namespace {

constexpr double kLeastOfWork = 0.05;  // of the CPU time

bool is_memory_management(const SampledFunction& f) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"malloc", "free", "calloc", "realloc", "cfree", "posix_memalign", "aligned_alloc", "operator new",
       "operator delete", "munmap", "mmap", "_int_malloc", "_int_free", "malloc_consolidate"});
  const std::string module = base_name(f.module);
  const bool library = is_of_the_system(f) || module.starts_with("libtcmalloc") || module.starts_with("libjemalloc");
  return f.kind == "code" && std::ranges::any_of(kNames, [&](std::string_view name) {
           return f.symbol == name || f.symbol == std::string(name) + '_' || (library && f.symbol.starts_with(name));
         });
}

bool is_copy(const SampledFunction& f) {
  const std::string_view symbol = without_underscores(f.symbol);
  return f.kind == "code" && is_of_the_system(f) &&
         (symbol.starts_with("memcpy") || symbol.starts_with("memmove") ||
          symbol.starts_with("gfortran_internal_pack") || symbol.starts_with("gfortran_internal_unpack"));
}

// Numbers become text, or text numbers: the C library, the streams of C++, formatted transfers of Fortran, Python.
bool is_text_conversion(const SampledFunction& f) {
  static constexpr auto kOfC = std::to_array<std::string_view>(
      {"printf",    "fprintf", "sprintf", "snprintf", "vprintf",    "vfprintf", "vsprintf",
       "vsnprintf", "fscanf",  "sscanf",  "vfscanf",  "vsscanf",    "isoc99_",  "isoc23_",
       "strtod",    "strtof",  "strtol",  "strtoul",  "hack_digit", "itoa_word"});
  static constexpr auto kOfCxx =
      std::to_array<std::string_view>({"std::ostream::", "std::istream::", "std::num_put<", "std::num_get<",
                                       "std::__convert_", "std::to_chars", "std::from_chars", "fmt::v"});
  static constexpr auto kOfFortran =
      std::to_array<std::string_view>({"gfortran_transfer_", "gfortran_st_read", "gfortran_st_write"});
  static constexpr auto kOfPython = std::to_array<std::string_view>(
      {"savetxt", "loadtxt", "genfromtxt", "strptime", "PyOS_double_to_string", "PyOS_string_to_double", "Py_dg_dtoa"});
  const auto begins = [&](const auto& names) {
    const std::string_view symbol = without_underscores(f.symbol);
    return std::ranges::any_of(names, [&](std::string_view name) { return symbol.starts_with(name); });
  };
  const auto contains = [&](std::string_view name) { return f.symbol.find(name) != std::string::npos; };
  if (f.kind != "code") return false;
  if (f.symbol.empty()) return base_name(f.module).starts_with("libgfortran");  // its entries have names
  return (is_of_the_system(f) && (begins(kOfC) || begins(kOfFortran))) || std::ranges::any_of(kOfCxx, contains) ||
         begins(kOfPython);
}

// Time in such functions and in the code that they call, without the kernel.
struct LibraryWork {
  double all = 0;
  std::uint32_t most = 0;            // the function with most of it
  std::uint32_t caller = kNoParent;  // that calls most of it
};

LibraryWork library_work(const SampleProfile& s, bool (*is_of)(const SampledFunction&)) {
  LibraryWork work;
  std::vector<bool> inside(s.tree.parent.size());
  std::vector<std::uint32_t> callers(s.tree.parent.size(), kNoParent);
  std::map<std::uint32_t, double> of_function, of_caller;
  for (std::size_t i = 0; i < s.tree.parent.size(); ++i) {
    const std::uint32_t parent = s.tree.parent[i];
    const SampledFunction& f = s.functions[s.tree.function[i]];
    const bool below = parent != kNoParent && inside[parent];
    // Code without a name belongs to the entry of its library.
    const bool in_entry =
        f.symbol.empty() && parent != kNoParent && s.functions[s.tree.function[parent]].module == f.module;
    inside[i] = below || (is_of(f) && !in_entry);
    if (!inside[i]) continue;
    callers[i] = below ? callers[parent] : parent == kNoParent ? kNoParent : function_of_program(s, parent);
    if (f.kind != "code" || f.symbol == "(kernel)") continue;
    work.all += s.tree.self[i];
    of_function[s.tree.function[i]] += s.tree.self[i];
    of_caller[callers[i]] += s.tree.self[i];
  }
  const auto most = [](const std::map<std::uint32_t, double>& sums) {
    return std::ranges::max_element(sums, {}, [](const auto& each) { return each.second; })->first;
  };
  if (of_function.empty()) return work;
  work.most = most(of_function);
  work.caller = most(of_caller);
  return work;
}

void name_library_work(const RunView& view, const char* code, const char* what, bool (*is_of)(const SampledFunction&),
                       std::vector<Loss>& out, double limit = std::numeric_limits<double>::infinity()) {
  const SampleProfile& s = view.app.samples;
  const LibraryWork work = library_work(s, is_of);
  if (work.all < kLeastOfWork * s.self || work.all >= limit) return;
  const std::string caller = work.caller == kNoParent ? "" : ", called by " + name_and_place(s, work.caller);
  out.push_back(
      {.code = code,
       .ceiling = (view.mean_work - view.mean_on_device) * work.all / s.self,
       .own_seconds = work.all,
       .text = fmt::format("{} for {} of the CPU time, most in {}{} (sampled)", what, human_share(work.all / s.self),
                           in_sentence(short_name(s.functions[work.most])), caller)});
}

}  // namespace

void find_library_losses(const RunView& view, std::vector<Loss>& out) {
  const SampleProfile& s = view.app.samples;
  if (s.unit != "seconds" || !(s.self > 0) || static_cast<double>(s.samples) < kFewestSamples) return;
  name_library_work(view, "mem.alloc", "Memory is allocated and freed", is_memory_management, out);
  if (lock_work(view.app).matters) name_library_work(view, "thr.lock", "Threads wait for locks", is_lock, out);
  // Copies into fresh memory can be saved with it. Others may be the program's work.
  const auto fresh = std::ranges::find(out, "mem.faults", &Loss::code);
  if (fresh != out.end())
    name_library_work(view, "mem.faults", "Data is copied within memory", is_copy, out, fresh->own_seconds);
  const std::size_t others = out.size();
  name_library_work(view, "io.text", "Numbers are turned into text, or text into numbers,", is_text_conversion, out);
  if (const FileProfile* const input = read_again(view.app); input != nullptr && out.size() > others) {
    out.back().text +=
        fmt::format("; {} is opened and read {} times", base_name(input->path), with_separators(input->opens));
    out.back().advice = "Read the file once, and keep its numbers in memory.";
  }
}

}  // namespace ardoise::reports
