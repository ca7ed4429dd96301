// Interface of a program's trace plug-in (traces.cpp) to the analyzer, which combines the parts at the end
// (trace_archive.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ardoise::knowledge_sources {

class Resolver;
struct TraceTables;

// Rounds (usually one) of a program's main loop in a rank, from 1 on; times in ns on the program's time axis.
struct TraceRounds {
  std::uint32_t rank;
  std::uint64_t first, count;
  std::int64_t begin, end;
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Complete parts of the program: of a launch that was ended, whose processes left packs behind.
  [[nodiscard]] virtual std::vector<const TraceTables*> earlier_parts(std::uint32_t partition) const = 0;
  // Before the first pack. close() completes a part: called if the analyzer ends without having taken all packs; the
  // part accepts nothing afterwards.
  virtual void add_part(std::function<void()> close) = 0;
  // A sentence for the report. Any thread.
  virtual void complain(const std::string& sentence) = 0;
  // On the first analyzer, when all parts of the program are complete and all of its definitions are known.
  virtual void take(std::uint32_t partition, const Resolver& resolver) = 0;
  // On the first analyzer, before or after take(): all rounds, those of a rank in order.
  virtual void take_rounds(std::uint32_t partition, const TraceRounds& rounds) = 0;
};

}  // namespace ardoise::knowledge_sources
