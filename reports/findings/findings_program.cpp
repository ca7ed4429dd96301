// The program's own code, from samples: compiler optimization, time in libraries and in the kernel, hottest lines.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "reports/findings/findings.hpp"
#include "reports/findings/sample_view.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

constexpr double kSamples = 100;  // fewer are not judged
constexpr double kLeastMentioned = 0.1, kMuch = 0.25, kKernel = 0.2, kOwnWork = 0.7;
constexpr std::size_t kNamedLines = 3;

// A share of CPU time as a share of the ranks' time.
double weight_of(const Facts& facts, double share_of_cpu) {
  return share_of_cpu * (facts.efficiency.known ? facts.efficiency.computing_share : 1);
}

void not_optimised(const Facts& facts, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  double sum = 0;
  std::size_t most = s.functions.size();
  for (std::size_t i = 0; i < s.functions.size(); ++i) {
    if (s.functions[i].optimization != "-O0") continue;
    sum += s.functions[i].self;
    if (most == s.functions.size()) most = i;  // they are sorted
  }
  const double share = sum / s.self;
  if (share < kLeastMentioned) return;
  out.push_back(
      {"not_optimized",
       weight_of(facts, share) > kMuch ? Severity::high : Severity::medium,
       weight_of(facts, share),
       fmt::format("{} of the CPU time is in code that was compiled without optimization (-O0), most of it in "
                   "{} (sampled).",
                   human_share(share), name_and_place(s, most)),
       "Compile it with -O2 or -O3, which often makes it several times as fast.",
       {{"share", share}}});
}

struct LibraryWork {
  const char* id;
  const char* what;
  const char* advice;
  std::vector<std::string_view> begins;  // prefixes of names in the C, C++ and Fortran libraries
  bool is_loss;                          // much of it is avoidable in any program
};

bool is_of(const SampledFunction& f, const LibraryWork& work) {
  const std::string module = base_name(f.module);
  const bool library = module.starts_with("libc.") || module.starts_with("libc-") || module.starts_with("libstdc++") ||
                       module.starts_with("libgfortran") || module.starts_with("libpthread") ||
                       module.starts_with("libtcmalloc") || module.starts_with("libjemalloc");
  return library &&
         std::ranges::any_of(work.begins, [&](std::string_view begin) { return f.symbol.starts_with(begin); });
}

// The function with most of the work, and its caller.
std::string main_place(const SampleProfile& s, const std::vector<double>& in_function) {
  const auto most = std::max_element(in_function.begin(), in_function.end());
  const auto function = static_cast<std::uint32_t>(most - in_function.begin());
  const auto callers = callers_of(s, node_totals(s.tree, s.tree.self), function);
  const std::string name = in_sentence(short_name(s.functions[function])), place = place_of(s, function);
  if (callers.empty() || callers[0].function == kNoParent) return name;
  return fmt::format("{}, called by {}{}", name, in_sentence(short_name(s.functions[callers[0].function])),
                     place.empty() ? "" : " (" + place + ")");
}

void library_work(const Facts& facts, std::vector<Finding>& out) {
  static const LibraryWork kWork[] = {
      {"allocation",
       "allocating and freeing memory",
       "Allocate outside loops and reuse the memory.",
       {"malloc", "free", "calloc", "realloc", "cfree", "posix_memalign", "aligned_alloc", "operator new",
        "operator delete", "munmap", "mmap"},
       true},
      {"copying",
       "copying and clearing memory",
       "Pass data by reference, swap buffers instead of copying them, clear only what must be zero.",
       {"memcpy", "memmove", "memset"},
       false},
      {"locking",
       "waiting for locks",
       "Hold locks for a shorter time, or give each thread its own data.",
       {"pthread_mutex", "pthread_rwlock", "pthread_spin", "lll_lock", "pthread_cond"},
       true},
      {"formatting",
       "reading and writing numbers as text",
       "Write binary data, or write less often.",
       {"printf", "vfprintf", "vsnprintf", "snprintf", "fprintf", "sprintf", "strtod", "scanf", "vfscanf", "isoc",
        "std::ostream", "std::istream", "std::num_put", "std::num_get", "gfortrani_write", "gfortrani_read"},
       true}};
  const SampleProfile& s = facts.app.samples;
  for (const LibraryWork& work : kWork) {
    std::vector<double> in_function(s.functions.size());
    for (std::size_t i = 0; i < s.functions.size(); ++i) {
      if (is_code(s.functions[i]) && is_of(s.functions[i], work)) in_function[i] = s.functions[i].self;
    }
    const double share = std::accumulate(in_function.begin(), in_function.end(), 0.0) / s.self;
    if (share < kLeastMentioned) continue;
    out.push_back({work.id,
                   work.is_loss && weight_of(facts, share) > kMuch ? Severity::medium : Severity::note,
                   weight_of(facts, share),
                   fmt::format("{} of the CPU time is {} in libraries, most of it in {} (sampled).", human_share(share),
                               work.what, main_place(s, in_function)),
                   work.advice,
                   {{"share", share}}});
  }
}

// Kernel time below functions of the program, mostly page faults. Kernel time of MPI and I/O calls belongs to the
// calls.
void kernel_work(const Facts& facts, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  std::vector<double> beneath(s.functions.size());
  for (std::size_t i = 0; i < s.tree.parent.size(); ++i) {
    if (s.functions[s.tree.function[i]].symbol == "(kernel)" && s.tree.parent[i] != kNoParent)
      beneath[s.tree.function[s.tree.parent[i]]] += s.tree.self[i];
  }
  const double share = std::accumulate(beneath.begin(), beneath.end(), 0.0) / s.self;
  if (share < kKernel) return;
  const auto most = static_cast<std::size_t>(std::max_element(beneath.begin(), beneath.end()) - beneath.begin());
  out.push_back({"kernel_work",
                 Severity::note,
                 weight_of(facts, share),
                 fmt::format("{} of the CPU time is in the kernel below functions of the program, most of it below {}: "
                             "first use of memory (page faults) or system calls other than I/O (an estimate).",
                             human_share(share), name_and_place(s, most)),
                 "Reuse memory instead of returning it (MALLOC_TRIM_THRESHOLD_, MALLOC_TOP_PAD_), or try huge pages.",
                 {{"share", share}}});
}

// " relax runs 0.62 instructions per cycle: …"; "": these counters are missing.
std::string speed_of(const SampleProfile& s, const SampledFunction& f) {
  const std::size_t cycles = counter(s, {"cycles", "cpu-cycles"}), instructions = counter(s, {"instructions"}),
                    misses = counter(s, {"cache-misses", "LLC-load-misses"});
  if (cycles == s.counters.size() || instructions == s.counters.size() || !(f.counters[cycles] > 0)) return "";
  const double ipc = f.counters[instructions] / f.counters[cycles];
  std::string text = fmt::format(" {} runs {:.2f} instructions per cycle", in_sentence(short_name(f)), ipc);
  if (misses < s.counters.size() && f.counters[instructions] > 0) {
    text += fmt::format(" with {:.1f} cache misses per thousand instructions",
                        1000 * f.counters[misses] / f.counters[instructions]);
  }
  return text + (ipc < 1 ? ": it waits, most likely for memory." : ".");
}

// The lines with most CPU time, or functions if lines are unknown.
struct Hottest {
  std::string places;
  double sum = 0;
  std::uint32_t function = 0;  // of the first
  std::size_t shown = 0;
  bool lines = false;

  // False: the limit is reached.
  bool add(const SampleProfile& s, std::uint32_t in, double self, std::string place) {
    if (shown == kNamedLines || self < 0.03 * s.self) return false;
    if (shown++ == 0) function = in;
    sum += self;
    places += fmt::format("{}{} ({})", shown == 1 ? "" : ", ", std::move(place), human_share(self / s.self));
    return true;
  }
};

Hottest hottest_of(const SampleProfile& s) {
  const auto name = [&](std::uint32_t function) { return in_sentence(short_name(s.functions[function])); };
  Hottest hottest;
  hottest.lines = true;
  for (const SampledLine& line : s.lines) {
    const std::string place = fmt::format("{}:{} in {}", base_name(line.source_file), line.line, name(line.function));
    if (!hottest.add(s, line.function, line.self, place)) break;
  }
  if (hottest.shown != 0) return hottest;
  hottest.lines = false;
  for (std::uint32_t f = 0; f < s.functions.size(); ++f) {
    const SampledFunction& function = s.functions[f];
    if (!is_code(function) || function.symbol.empty() || function.symbol[0] == '(') continue;
    if (!hottest.add(s, f, function.self, name(f))) break;
  }
  return hottest;
}

void own_work(const Facts& facts, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  const Efficiency& e = facts.efficiency;
  if (!e.known || e.computing_share + e.waiting_share < kOwnWork) return;
  const Hottest found = hottest_of(s);
  if (found.shown == 0) return;
  const std::uint32_t hottest = found.function;
  const std::string what = found.lines ? "line" : "function";
  const std::string speed = speed_of(s, s.functions[hottest]);
  const bool python = s.functions[hottest].module.ends_with(".py");
  const bool waits = speed.find("it waits") != std::string::npos;
  out.push_back(
      {"own_work",
       Severity::note,
       0.9 * e.computing_share,
       fmt::format("Optimize the program's own code, not MPI or I/O. {} of its CPU time is in "
                   "{}: {} (sampled{}).{}",
                   human_share(found.sum / s.self),
                   found.shown == 1 ? "one " + what : fmt::format("{} {}s", found.shown, what), found.places,
                   found.lines ? "" : "; compile with -g to see lines", speed),
       python  ? "Start there: avoid needless work, pass whole arrays to a library (numpy), or compile the loop "
                 "(numba, Cython)."
       : waits ? "Keep data in the cache: smaller types, blocked loops, arrays in the order of use."
               : "Start there: avoid needless work, let the compiler vectorize (-O3 -march=native), access data in "
                 "memory order.",
       {{"share", found.sum / s.self}}});
}

}  // namespace

void find_program(const Facts& facts, std::vector<Finding>& out) {
  const SampleProfile& s = facts.app.samples;
  if (s.unit != "seconds" || !(s.self > 0) || static_cast<double>(s.samples) < kSamples) return;
  not_optimised(facts, out);
  library_work(facts, out);
  kernel_work(facts, out);
  own_work(facts, out);
}

}  // namespace ardoise::reports
