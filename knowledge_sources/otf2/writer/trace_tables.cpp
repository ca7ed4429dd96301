#include "knowledge_sources/otf2/writer/trace_tables.hpp"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>

#include "knowledge_sources/containers/byte_stream.hpp"

namespace ardoise::knowledge_sources {
namespace {

constexpr std::uint32_t kTablesVersion = 3;
constexpr const char* kTablesName = "tables";

template <class T>
void put_list(ByteWriter& out, const std::vector<T>& list) {
  out.put_array(std::span<const T>(list));
}

void put_samples(ByteWriter& out, const TraceTables& tables) {
  out.put_count(tables.samples.size());
  for (const TraceTables::Samples& each : tables.samples) {
    out.put(each.rank);
    out.put(each.thread);
    out.put(each.counters);
    put_list(out, each.places);
    put_list(out, each.contexts);
    put_list(out, each.counted);
  }
  out.put_count(tables.samplers.size());
  for (const TraceTables::Sampler& each : tables.samplers) {
    out.put(each.rank);
    out.put(each.unit);
    out.put(each.hertz);
    out.put(each.period);
    out.put_text(each.event);
    out.put_count(each.counters.size());
    for (const std::string& counter : each.counters) out.put_text(counter);
  }
}

void get_samples(ByteReader& in, TraceTables& tables) {
  for (auto left = in.get_count(12); left != 0; --left) {
    TraceTables::Samples& each = tables.samples.emplace_back();
    each.rank = in.get<std::uint32_t>();
    each.thread = in.get<std::uint32_t>();
    each.counters = in.get<std::uint32_t>();
    each.places = in.get_array<TraceTables::Place>();
    each.contexts = in.get_array<ContextEntry>();
    each.counted = in.get_array<std::uint64_t>();
    in.check(each.counters <= instrument::kMaxCounters && each.counted.size() == instrument::kMaxCounters &&
                 is_summed_up(each.contexts),
             "has impossible samples");
  }
  for (auto left = in.get_count(24); left != 0; --left) {
    TraceTables::Sampler& each = tables.samplers.emplace_back();
    each.rank = in.get<std::uint32_t>();
    each.unit = in.get<instrument::SampleUnit>();
    each.hertz = in.get<double>();
    each.period = in.get<std::uint64_t>();
    each.event = in.get_text();
    for (auto counters = in.get_count(4); counters != 0; --counters) each.counters.emplace_back(in.get_text());
  }
}

}  // namespace

void TraceLosses::add(const TraceLosses& other) {
  sums += other.sums;
  counted += other.counted;
  gaps += other.gaps;
  untimed += other.untimed;
  moved += other.moved;
  incomplete += other.incomplete;
  attributes += other.attributes;
  stacks += other.stacks;
  limited += other.limited;
  moved_samples += other.moved_samples;
  untimed_samples += other.untimed_samples;
}

bool write_tables(const TraceTables& tables, const std::filesystem::path& part) {
  ByteWriter out;
  out.put(kTablesVersion);
  out.put(tables.partition);
  out.put_text(tables.selection);
  put_list(out, tables.ranks);
  put_list(out, tables.threads);
  put_list(out, tables.regions);
  put_list(out, tables.names);
  out.put_count(tables.texts.size());
  for (const auto& [name, text] : tables.texts) {
    out.put(name);
    out.put_text(text);
  }
  put_list(out, tables.communicators);
  put_list(out, tables.handles);
  put_list(out, tables.windows);
  put_list(out, tables.datatypes);
  out.put_count(tables.groups.size());
  for (const TraceTables::Group& group : tables.groups) {
    out.put(group.rank);
    out.put(group.number);
    out.put(group.communicator);
    put_list(out, group.members);
  }
  put_samples(out, tables);
  put_list(out, tables.stacks);
  out.put_count(tables.rank_texts.size());
  for (const TraceTables::RankText& each : tables.rank_texts) {
    out.put(each.rank);
    out.put(each.number);
    out.put_text(each.text);
  }
  out.put(tables.attributes);
  put_list(out, tables.gaps);
  out.put(tables.losses);
  const std::vector<std::byte> bytes = out.take();
  const std::filesystem::path beside = part / "tables.part";
  std::ofstream file(beside, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  std::error_code fault;
  if (file) std::filesystem::rename(beside, part / kTablesName, fault);
  return file.good() && !fault;
}

TraceTables read_tables(const std::filesystem::path& part) {
  std::ifstream file(part / kTablesName, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ByteReader in(std::as_bytes(std::span(text)), "a part of the trace");
  in.expect_version(kTablesVersion);
  TraceTables tables;
  tables.partition = in.get<std::uint32_t>();
  tables.selection = in.get_text();
  tables.ranks = in.get_array<TraceTables::Rank>();
  tables.threads = in.get_array<TraceTables::Thread>();
  tables.regions = in.get_array<std::uint64_t>();
  tables.names = in.get_array<std::uint32_t>();
  for (auto left = in.get_count(8); left != 0; --left) {
    const auto name = in.get<std::uint32_t>();
    tables.texts.emplace_back(name, in.get_text());
  }
  tables.communicators = in.get_array<TraceTables::Use>();
  tables.handles = in.get_array<TraceTables::Use>();
  tables.windows = in.get_array<TraceTables::Use>();
  tables.datatypes = in.get_array<TraceTables::Use>();
  for (auto left = in.get_count(12); left != 0; --left) {
    TraceTables::Group& group = tables.groups.emplace_back();
    group.rank = in.get<std::uint32_t>();
    group.number = in.get<std::uint32_t>();
    group.communicator = in.get<std::uint32_t>();
    group.members = in.get_array<std::int32_t>();
  }
  get_samples(in, tables);
  tables.stacks = in.get_array<TraceTables::Stack>();
  for (auto left = in.get_count(12); left != 0; --left) {
    const auto rank = in.get<std::uint32_t>(), number = in.get<std::uint32_t>();
    tables.rank_texts.push_back({rank, number, std::string(in.get_text())});
  }
  tables.attributes = in.get<std::uint64_t>();
  tables.gaps = in.get_array<TraceTables::Gap>();
  tables.losses = in.get<TraceLosses>();
  in.expect_end();
  return tables;
}

}  // namespace ardoise::knowledge_sources
