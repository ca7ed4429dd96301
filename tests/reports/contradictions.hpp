// Pairs of losses that cannot both be said of one program. Header only: for the tests of reports and of diagnosis.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/findings/findings.hpp"

namespace ardoise::reports::testing {

struct Contradiction {
  enum class Where { anywhere, same_place };  // same place: they name a function in common, and no different ranks
  std::string_view one, other, why;
  Where where = Where::same_place;
};

// A code that ends in a dot stands for all that begin so.
inline constexpr std::array kContradictions{
    // Uneven work: one shape for the work of one place.
    Contradiction{"late.static", "late.moving", "the same ranks always, or others each time"},
    Contradiction{"late.static", "late.noise", "the same ranks always, or others each time"},
    Contradiction{"late.static", "late.periodic", "in every round, or in some"},
    Contradiction{"late.static", "late.growing", "always, or more and more"},
    Contradiction{"late.static", "late.phase", "always, or from some round on"},
    Contradiction{"late.static", "serial.rank", "one rank has more work than others, or all of it"},
    Contradiction{"late.static", "late.node", "the work is more, or the host slower"},
    Contradiction{"late.static", "late.numa", "the work is more, or the memory slower"},
    Contradiction{"late.static", "late.asleep", "the rank works, or sleeps"},
    Contradiction{"late.moving", "late.noise", "the work changes, or its time by chance"},
    Contradiction{"late.moving", "late.growing", "others each time, or one more and more"},
    Contradiction{"late.node", "late.numa", "all ranks of a host, or one of each"},
    Contradiction{"late.growing", "late.phase", "steadily, or at once"},
    Contradiction{"serial.rank", "chain.serial", "one rank has the work, or all in turn"},
    // Dependence.
    Contradiction{"chain.fill", "ovh.tiny", "smaller blocks, or larger messages"},
    Contradiction{"chain.fill", "chain.grain", "smaller blocks, or larger ones", Contradiction::Where::anywhere},
    Contradiction{"chain.serial", "chain.fill", "one block, or several"},
    Contradiction{"hub.master", "hub.tail", "larger tasks, or smaller ones", Contradiction::Where::anywhere},
    Contradiction{"hub.master", "late.moving", "larger tasks, or smaller ones", Contradiction::Where::anywhere},
    Contradiction{"hub.master", "hub.root", "it hands out work, or only takes results", Contradiction::Where::anywhere},
    Contradiction{"order.recv", "chain.serial", "messages lay there, or were not sent yet"},
    // Calls.
    Contradiction{"ovh.tiny", "ovh.volume", "fewer messages, or fewer bytes"},
    Contradiction{"ovh.collective", "ovh.alltoall", "more data in a call, or less"},
    Contradiction{"ovh.element", "ovh.volume", "more data in a call, or less"},
    Contradiction{"ovh.hand", "ovh.toobig", "use the collective, or single messages"},
    Contradiction{"prog.none", "poll.busy", "call MPI_Test, or do not"},
    Contradiction{"prog.none", "prog.false_overlap", "there is work before the wait, or none"},
    Contradiction{"poll.busy", "poll.sleep", "it never sleeps between tests, or too long"},
    // Files.
    Contradiction{"io.rank0", "io.reread", "let all ranks access the file, or one"},
    Contradiction{"io.rank0", "io.independent", "one rank accesses the file, or each"},
    Contradiction{"io.rank0", "io.uneven", "one rank, or all of them"},
    Contradiction{"io.small", "io.volume", "small accesses, or large ones"},
    Contradiction{"io.small", "io.checkpoint", "small accesses, or large ones"},
    Contradiction{"io.meta", "io.nn", "the same files again, or others"},
    // Host and threads.
    Contradiction{"node.oversub", "node.bind", "too few processors, or unused ones", Contradiction::Where::anywhere},
    Contradiction{"thr.serial", "thr.uneven", "one thread works, or all unevenly"},
    // A summary of the run, and a cause.
    Contradiction{"none.path", "late.", "causes are not ranked", Contradiction::Where::anywhere},
    Contradiction{"none.path", "ovh.", "causes are not ranked", Contradiction::Where::anywhere},
    Contradiction{"none.path", "io.", "causes are not ranked", Contradiction::Where::anywhere},
};

// The functions that a finding blames: "solve (app.c:11)"; not those in which others wait.
inline std::set<std::string> blamed_places(const std::string& text) {
  static const std::regex kOthers("; the others wait for[^;]*");
  static const std::regex kPlace("([^ ]+) \\([^ ()]+:[0-9]+\\)");
  const std::string own = std::regex_replace(text, kOthers, "");
  std::set<std::string> places;
  for (std::sregex_iterator it(own.begin(), own.end(), kPlace); it != std::sregex_iterator(); ++it)
    places.insert((*it)[1]);
  return places;
}

// "3", "1, 2"; "": all ranks, or none is named.
inline std::string named_ranks(const std::string& text) {
  static const std::regex kRanks("[Rr]anks? ([0-9][0-9, –…]*)");
  std::smatch match;
  return std::regex_search(text, match, kRanks) ? match[1].str() : "";
}

inline bool contradict(const Contradiction& pair, const Finding& x, const Finding& y) {
  const auto is = [](const Finding& finding, std::string_view code) {
    return code.ends_with('.') ? finding.id.starts_with(code) : finding.id == code;
  };
  if (!(is(x, pair.one) && is(y, pair.other)) && !(is(y, pair.one) && is(x, pair.other))) return false;
  // A remedy that names the other code weighs both.
  if (x.advice.find(y.id) != std::string::npos || y.advice.find(x.id) != std::string::npos) return false;
  if (pair.where == Contradiction::Where::anywhere) return true;
  const std::string ranks = named_ranks(x.text), others = named_ranks(y.text);
  if (!ranks.empty() && !others.empty() && ranks != others) return false;
  const std::set<std::string> places = blamed_places(x.text);
  return std::ranges::any_of(blamed_places(y.text), [&](const auto& place) { return places.contains(place); });
}

// The pairs among the findings of a program, each with both texts.
inline std::vector<std::string> contradictions_in(const std::vector<Finding>& findings) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    for (std::size_t j = i + 1; j < findings.size(); ++j) {
      for (const Contradiction& pair : kContradictions) {
        const Finding &x = findings[i], &y = findings[j];
        if (contradict(pair, x, y))
          found.push_back(std::string(pair.why) + ":\n  " + x.id + ": " + x.text + "\n  " + y.id + ": " + y.text);
      }
    }
  }
  return found;
}

}  // namespace ardoise::reports::testing
