// Reports of the survivors of a program's processes on their ends, or on a moment: how it ended, the last calls of each
// thread, and their places. From the definitions of its level. Memory: only for ranks that did not reach MPI_Finalize.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "instrument/format/definition_reader.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"

namespace ardoise::knowledge_sources {

struct ThreadEnding {
  std::vector<instrument::RecentCall> calls;
  std::vector<instrument::StackFrame> in_call;  // at the open call
  std::vector<instrument::StackFrame> at_end;   // where it caused the end
  std::vector<instrument::StackFrame> sampled;  // outside calls: since the last call
};

struct RankEnding {
  std::optional<instrument::EndDefinition> end;   // none: the process lives
  std::map<std::uint32_t, ThreadEnding> threads;  // by number
};

class RankEndings {
 public:
  explicit RankEndings(std::uint32_t ranks) : ranks_(ranks) {}

  void add(std::uint32_t rank, const instrument::Definition& definition);
  [[nodiscard]] const std::map<std::uint32_t, RankEnding>& all() const { return endings_; }

  void merge(const RankEndings& other);
  void write(ByteWriter& out) const;
  void read(ByteReader& in);  // into an empty one

 private:
  std::uint32_t ranks_;
  std::map<std::uint32_t, RankEnding> endings_;
};

}  // namespace ardoise::knowledge_sources
