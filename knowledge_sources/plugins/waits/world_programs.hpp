// The programs of one MPI_COMM_WORLD: `waits` uses ranks of the world, and each belongs to one program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ardoise::knowledge_sources {

struct ProgramRanks {
  std::uint32_t first = 0, ranks = 0;
  [[nodiscard]] bool has(std::uint32_t rank) const { return rank >= first && rank - first < ranks; }
};

class WorldPrograms {
 public:
  // ranks: of the world.
  explicit WorldPrograms(std::uint32_t ranks) : ranks_(ranks) {}

  // In the order of their first ranks; false: out of order.
  [[nodiscard]] bool add(const ProgramRanks& program) {
    const std::uint32_t end = programs_.empty() ? 0 : programs_.back().first + programs_.back().ranks;
    if (program.first < end || program.first > ranks_ || program.ranks > ranks_ - program.first) return false;
    programs_.push_back(program);
    return true;
  }
  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::size_t size() const { return programs_.size(); }
  [[nodiscard]] const ProgramRanks& operator[](std::size_t number) const { return programs_[number]; }
  // Few programs share a world.
  [[nodiscard]] std::size_t program_of(std::uint32_t rank) const {
    std::size_t number = programs_.size() - 1;
    while (number > 0 && rank < programs_[number].first) --number;
    return number;
  }

 private:
  std::uint32_t ranks_;
  std::vector<ProgramRanks> programs_;
};

}  // namespace ardoise::knowledge_sources
