// Calling contexts of the calls of a location (ardoise::callstack): ContextExtensions precede the records of their
// calls, those of I/O perhaps by far, since they are in the packs of MPI. The trace has the thread's context numbers,
// which the tables resolve. A call without one, whose extension was aggregated or whose thread is not sampled, has no
// such attribute and is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "instrument/format/event_format.hpp"

namespace ardoise::knowledge_sources {

// The call stacks of one location. Memory: kMostWaiting calls of I/O, some 8 MB. Not thread safe.
class CallStacks {
 public:
  static constexpr std::size_t kMostWaiting = std::size_t{1} << 17;

  void add(const instrument::ContextExtension& context) {
    if (context.record_class != static_cast<std::uint16_t>(instrument::PackClass::kPosix)) {
      mpi_ = context;
      return;
    }
    io_.insert_or_assign(context.begin, Origin{context.context, context.function});
    if (io_.size() > kMostWaiting) io_.erase(io_.begin());
  }
  // Context of the call that begins then; 0: unknown.
  [[nodiscard]] std::uint32_t take_mpi(std::uint32_t function, std::uint64_t begin) {
    if (mpi_.begin != begin || mpi_.function != function) return 0;
    return std::exchange(mpi_.context, 0);
  }
  // The same for I/O. Drops contexts of earlier calls, which can no longer arrive.
  [[nodiscard]] std::uint32_t take_io(std::uint32_t function, std::uint64_t begin) {
    const auto found = io_.find(begin);
    if (found == io_.end()) return 0;
    const Origin origin = found->second;
    io_.erase(io_.begin(), std::next(found));
    return origin.function == function ? origin.context : 0;
  }
  // The trace refers to it.
  void use(std::uint32_t context) {
    if (std::exchange(last_, context) != context) used_.insert(context);
  }
  [[nodiscard]] const std::set<std::uint32_t>& used() const { return used_; }

 private:
  struct Origin {
    std::uint32_t context, function;
  };
  instrument::ContextExtension mpi_{};  // for the next call
  std::map<std::uint64_t, Origin> io_;  // for later calls, by begin
  std::set<std::uint32_t> used_;
  std::uint32_t last_ = 0;
};

}  // namespace ardoise::knowledge_sources
