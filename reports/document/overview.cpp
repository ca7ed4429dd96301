// A program: its facts, the split of its time, its findings. See sections.hpp.
#include <fmt/format.h>

#include <algorithm>

#include "reports/document/sections.hpp"
#include "reports/text/units.hpp"

namespace ardoise::reports {

namespace {

std::string in_one_line(const Application& a, const Facts& facts) {
  std::string out = counted(a.ranks, "rank");
  if (a.hosts.size() > 1) out += fmt::format(" on {}", counted(a.hosts.size(), "host"));
  if (a.threads > 1) out += fmt::format(", up to {} threads", a.threads);
  out += fmt::format(" · wall {}", human_seconds(a.wall_seconds));
  if (facts.rank_seconds > 0) {
    out += fmt::format(" · MPI {} · file I/O {}", facts.mpi_share_in_words(), human_share(facts.io_share()));
  }
  if (facts.efficiency.known && a.ranks > 1) {
    out += fmt::format(" · load balance {:.2f} · parallel efficiency {:.2f}", facts.efficiency.load_balance,
                       facts.efficiency.parallel);
  }
  return out;
}

FindingList not_on_cover(const std::vector<RunFindings::OnCover>& on_cover, std::size_t number,
                         std::vector<Finding> all) {
  for (const auto& [program, shown] : on_cover) {
    if (program == number) std::erase_if(all, [&text = shown.text](const Finding& f) { return f.text == text; });
  }
  for (Finding& finding : all) finding = with_code(std::move(finding));
  return {std::move(all)};
}

// A launch of several programs has their headlines and findings on the cover.
void add_summary(const Run& run, const Application& a, const Facts& facts, std::vector<Finding> findings,
                 std::vector<Block>& to) {
  const bool alone = run.applications.size() == 1;
  if (alone) to.emplace_back(Paragraph{in_one_line(a, facts)});
  if (const std::string place = place_in_world(run, a); !place.empty()) to.emplace_back(Paragraph{place});
  if (!alone) return;
  if (!a.command.empty()) to.emplace_back(Paragraph{code(a.command, 98)});
  FindingList first;
  first.further = findings.size() - std::min(findings.size(), kSummaryFindings);
  findings.resize(findings.size() - first.further);
  for (Finding& finding : findings) first.findings.push_back(with_code(std::move(finding)));
  to.emplace_back(first);
  add_explained(to, first);
}

FactList facts_of(const Run& run, const Application& a, const Facts& facts) {
  FactList list;
  const auto fact = [&list](const char* name, Text value) { list.facts.emplace_back(name, std::move(value)); };
  if (!a.command.empty()) fact("Command", code(a.command, 400));
  if (!a.working_directory.empty()) fact("Folder", code(a.working_directory, 200));
  fact("Ranks", counted(a.ranks, "rank") + (a.hosts.empty() ? "" : " on " + counted(a.hosts.size(), "host")) +
                    (a.threads > 1 ? fmt::format(", up to {} recording threads", a.threads) : ""));
  if (const std::string place = place_in_world(run, a); !place.empty()) fact("World", place);
  if (a.hosts.size() == 1) fact("Hosts", code(a.hosts.front()));
  if (a.hosts.size() > 1) fact("Hosts", {code(a.hosts.front()), {" … "}, code(a.hosts.back())});
  if (!a.thread_level.empty()) fact("Thread level", code(a.thread_level));
  fact("Wall time",
       fmt::format("{} from MPI_Init to MPI_Finalize, maximum over ranks; MPI_Init took {}; "
                   "started {} after the first program",
                   human_seconds(a.wall_seconds), human_seconds(a.init_seconds), human_seconds(a.start_seconds)));
  if (facts.rank_seconds > 0) {
    fact("Time of all ranks", fmt::format("{}: MPI {}, {}; file I/O {}, {}", human_seconds(facts.rank_seconds),
                                          human_seconds(facts.mpi_seconds), facts.mpi_share_in_words(),
                                          human_seconds(facts.io_seconds), human_share(facts.io_share())));
  }
  if (const std::string memory = memory_in_words(a); !memory.empty()) fact("Memory", memory);
  const Efficiency& e = facts.efficiency;
  if (e.known && a.ranks > 1) {
    const std::string parts =
        e.parts_known ? fmt::format("; communication = serialisation {:.2f} × transfer {:.2f} (an estimate)",
                                    e.serialisation, e.transfer)
                      : "";
    fact("Efficiency", fmt::format("parallel {:.2f} = load balance {:.2f} × communication {:.2f}{}", e.parallel,
                                   e.load_balance, e.communication, parts));
  }
  return list;
}

}  // namespace

Section overview(const Run& run, const Application& a, const RunFindings& of_run) {
  const Facts facts(a);
  const auto number = static_cast<std::size_t>(&a - run.applications.data());
  const std::vector<Finding>& findings = of_run.of_program[number];
  Section section{.title = "Overview", .together = 0};
  add_summary(run, a, facts, findings, section.summary);
  section.blocks.push_back(facts_of(run, a, facts));
  if (const FindingList list = not_on_cover(of_run.on_cover, number, findings); !list.findings.empty()) {
    section.blocks.push_back(list);
    add_explained(section.blocks, list);
  }
  if (facts.efficiency.known && a.ranks > 1) {
    section.blocks.push_back(
        note("Useful time is time outside MPI. Load balance is mean ÷ maximum of the ranks' useful time, communication "
             "efficiency is maximum useful time ÷ wall time (both as POP defines them). Values above 0.8 are regarded "
             "as acceptable."));
  }
  add_figure(section.blocks, rank_times_figure(a));
  return section;
}

}  // namespace ardoise::reports
