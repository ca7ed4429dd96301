#include "analyzer/run/ingest.hpp"

#include <chrono>

namespace ardoise::analyzer {

void ingest(EventLoop& loop, PackSource& source, AnalyzerRun& run) {
  // Workers wake the thread that waits for room. Long enough not to spin; signals and other analyzers wait for it.
  constexpr std::chrono::milliseconds kWaitForRoom(1);
  const auto packs = loop.poll([&] {
    if (!run.wait_for_room(kWaitForRoom)) return Found::something;
    SourcedPack pack;
    switch (source.next(pack)) {
      case PackSource::Next::nothing:
        return Found::nothing;
      case PackSource::Next::arriving:
        return Found::arriving;
      case PackSource::Next::pack:
        run.submit(pack);
        return Found::something;
      case PackSource::Next::end:
        break;
    }
    loop.stop();
    return Found::something;
  });
  loop.run();
  for (const auto& complaint : source.complaints()) run.complain(complaint);
}

}  // namespace ardoise::analyzer
