// dump_packs FILE: prints the content of a file of captured packs.
#include <fmt/core.h>

#include "tests/instrument/capture.hpp"

int main(int argc, char** argv) {
  using namespace ardoise::instrument;
  if (argc != 2) {
    fmt::print(stderr, "usage: dump_packs FILE\n");
    return 2;
  }
  const Capture capture = read_capture(argv[1]);
  fmt::print("{} ({} packs) world {} threads {} clock {:.6g} Hz, record cost {:.1f} ticks, init {} ticks\n",
             capture.program, capture.packs, capture.process.world_size, capture.threads.size(),
             capture.last_clock.ticks_per_second, capture.last_clock.record_cost_ticks, capture.process.init_ticks);
  for (const auto& [id, comm] : capture.comms) {
    fmt::print("comm {} {} instance {} size {} dims {}\n", id, comm.name, comm.fixed.instance, comm.members.size(),
               comm.dimensions.size());
  }
  for (const auto& [id, path] : capture.modules) fmt::print("module {} {}\n", id, path);
  for (const auto& event : capture.events) {
    fmt::print("{} {} shape {} comm {} peer {} tag {} bytes {} received {} ticks {} site {:08x}\n", event.begin,
               event.function, static_cast<int>(event.shape), event.comm, event.peer, event.tag, event.bytes,
               event.received, event.duration, event.call_site);
  }
  for (const auto& done : capture.completions) {
    fmt::print("completion of {} posted {} peer {} tag {} bytes {}\n", done.function, done.record.post_begin,
               done.record.peer, done.record.tag, completion_bytes(done.record));
  }
  for (const auto& event : capture.posix) {
    fmt::print("{} {} bytes {}{}\n", event.function, event.path, event.bytes, event.failed ? " failed" : "");
  }
  for (const CapturedSample& sample : capture.samples) {
    const auto context = capture.contexts.find({sample.thread, sample.record.context});
    fmt::print("sample {} thread {} context {} offset {:x} function {} flags {} weight {}\n", sample.record.tick,
               sample.thread, sample.record.context, context == capture.contexts.end() ? 0 : context->second.offset,
               sample.record.function, sample.record.flags, std::uint64_t{sample.record.weight} * sample.weight);
  }
  for (const auto& [name, total] : capture.totals) {
    fmt::print("total {} calls {} ticks {} sent {} received {} bytes {}\n", name, total.calls, total.ticks,
               total.bytes_sent, total.bytes_received, total.bytes);
  }
  fmt::print("ledger mpi {}-{} posix {}-{} blocked {}\nfault: {}\n", capture.last.mpi.recorded,
             capture.last.mpi.dropped, capture.last.posix.recorded, capture.last.posix.dropped,
             capture.last.blocked_ticks, capture.fault());
}
