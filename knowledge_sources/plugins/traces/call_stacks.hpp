// From where the calls of a location came (ardoise::callstack): ContextExtensions come before the records of their
// calls, those of I/O perhaps long before, since they are in the packs of MPI. The numbers in the trace are those of
// the thread's calling contexts; what they are, the tables say. A call without one, whose extension became a sum or
// whose thread is not sampled, has no such attribute and is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "instrument/format/event_format.hpp"

namespace ardoise::knowledge_sources {

// Of one location. Memory: that of kMostWaiting calls of I/O, some 8 MB. Not thread safe.
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
  // Of the call that begins then; 0: it is not known.
  [[nodiscard]] std::uint32_t take_mpi(std::uint32_t function, std::uint64_t begin) {
    if (mpi_.begin != begin || mpi_.function != function) return 0;
    return std::exchange(mpi_.context, 0);
  }
  // The same. Of earlier calls that are not there none comes any more.
  [[nodiscard]] std::uint32_t take_io(std::uint32_t function, std::uint64_t begin) {
    const auto found = io_.find(begin);
    if (found == io_.end()) return 0;
    const Origin origin = found->second;
    io_.erase(io_.begin(), std::next(found));
    return origin.function == function ? origin.context : 0;
  }
  // It is in the trace.
  void use(std::uint32_t context) {
    if (std::exchange(last_, context) != context) used_.insert(context);
  }
  [[nodiscard]] const std::set<std::uint32_t>& used() const { return used_; }

 private:
  struct Origin {
    std::uint32_t context, function;
  };
  instrument::ContextExtension mpi_{};  // of the call that comes next
  std::map<std::uint64_t, Origin> io_;  // of calls to come, by begin
  std::set<std::uint32_t> used_;
  std::uint32_t last_ = 0;
};

}  // namespace ardoise::knowledge_sources
