// Records that have to be matched across analyzers: each record has a key and is sent in batches to the analyzer that
// owns the key. Records whose key is owned here are used directly by the caller.
//
//   Keyed<Record> ends_;                                    // in the analysis, before the data of use()
//   ends_.attach(sources, "tag_usage", level, [this](const Record& record) { use(record); });
//   if (ends_.is_own(key)) use(record); else ends_.send(key, record);       // in operations
//
// Records sent to one analyzer by one thread, or by several under one lock, are used there in that order. use(), which
// may also take the number of the sending analyzer, runs on workers, never concurrently for records of one sender. All
// sent records have been used when partial() is called. Memory: a batch for each analyzer, and batches in flight, which
// count on the byte limits of their boards.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "blackboard/blackboard.hpp"
#include "knowledge_sources/containers/byte_stream.hpp"
#include "knowledge_sources/interface/level_sources.hpp"

namespace ardoise::knowledge_sources {

// Encodes the records of a batch as they are in memory. Other encodings may keep state between records; each batch has
// its own writer and reader.
template <class Record>
struct PlainCodec {
  void put(const Record& record, std::vector<std::byte>& out) {
    const auto bytes = std::as_bytes(std::span(&record, 1));
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  [[nodiscard]] Record get(ByteReader& in) { return in.get<Record>(); }
};

struct KeyedTraffic {
  std::uint64_t records = 0, bytes = 0;  // sent to other analyzers
};

template <class Record, class Codec = PlainCodec<Record>>
class Keyed {
 public:
  static constexpr std::size_t kBatchBytes = std::size_t{16} << 10;

  // In Analysis::attach(), once. name: unique within the plug-in on this level.
  template <class Use>
  void attach(LevelSources& sources, std::string name, const std::string& level, Use use) {
    board_ = &sources.board();
    name_ = std::move(name);
    type_ = blackboard::entry_type(level, "keyed/" + name_);
    if constexpr (std::is_invocable_v<Use&, const Record&, unsigned>) {
      use_ = std::move(use);
    } else {
      use_ = [use = std::move(use)](const Record& record, unsigned) mutable { use(record); };
    }
    if (board_->boards() == 1) return;
    for (unsigned i = 0; i < board_->boards(); ++i) {
      outgoing_.push_back(std::make_unique<Outgoing>());
      incoming_.push_back(std::make_unique<Incoming>());
    }
    sources.add({name_ + "@" + level, {type_}, [this](const auto&, auto entries) { arrive(entries[0]); }});
    sources.at_quiet([this] { flush(); });
  }

  [[nodiscard]] bool is_own(std::uint64_t key) const { return blackboard::owner_of(key, boards()) == board_->self(); }

  void send(std::uint64_t key, const Record& record) {
    Outgoing& to = *outgoing_[blackboard::owner_of(key, boards())];
    const std::scoped_lock guard(to.mutex);
    if (to.bytes.empty()) begin(to, key);
    to.codec.put(record, to.bytes);
    ++to.header.records;
    if (to.bytes.size() >= kBatchBytes) submit(to);
  }

  // Sends incomplete batches.
  void flush() {
    for (const auto& to : outgoing_) {
      const std::scoped_lock guard(to->mutex);
      if (!to->bytes.empty()) submit(*to);
    }
  }

  [[nodiscard]] KeyedTraffic traffic() const {
    KeyedTraffic sum;
    for (const auto& to : outgoing_) {
      const std::scoped_lock guard(to->mutex);
      sum.records += to->traffic.records;
      sum.bytes += to->traffic.bytes;
    }
    return sum;
  }

 private:
  struct Header {
    std::uint64_t number = 0;  // sequence number of the batch between two analyzers
    std::uint32_t from = 0, records = 0;
  };
  struct Outgoing {
    std::mutex mutex;
    Header header;
    std::uint64_t key = 0;         // of the first record: all records of a batch have the same owner
    std::vector<std::byte> bytes;  // begins with room for the header
    Codec codec;
    KeyedTraffic traffic;
  };
  struct Incoming {
    std::mutex mutex;
    std::uint64_t next = 0;
    std::map<std::uint64_t, blackboard::EntryRef> early;
  };

  [[nodiscard]] unsigned boards() const { return board_->boards(); }

  void begin(Outgoing& to, std::uint64_t key) {
    to.key = key;
    to.codec = Codec();
    to.header.from = board_->self();
    to.header.records = 0;
    to.bytes.resize(sizeof(Header));
  }
  void submit(Outgoing& to) {
    std::memcpy(to.bytes.data(), &to.header, sizeof(Header));
    auto entry = blackboard::make_entry(type_, to.bytes.size());
    std::memcpy(entry.writable().data(), to.bytes.data(), to.bytes.size());
    to.traffic.records += to.header.records;
    to.traffic.bytes += to.bytes.size();
    ++to.header.number;
    to.bytes.clear();
    board_->submit_keyed(std::move(entry), to.key);
  }

  void arrive(const blackboard::EntryRef& entry) {
    const auto header = ByteReader(entry.payload(), name_).template get<Header>();
    if (header.from >= incoming_.size())
      throw BadPartial("A batch of records comes from an analyzer that does not exist.");
    Incoming& from = *incoming_[header.from];
    const std::scoped_lock guard(from.mutex);
    if (header.number >= from.next) from.early.try_emplace(header.number, entry);
    while (!from.early.empty() && from.early.begin()->first == from.next) {
      const auto batch = from.early.extract(from.early.begin());
      ++from.next;
      use(batch.mapped().payload());
    }
  }
  void use(std::span<const std::byte> payload) {
    ByteReader in(payload, name_);
    const auto header = in.get<Header>();
    Codec codec;
    for (std::uint32_t i = 0; i < header.records; ++i) use_(codec.get(in), header.from);
    in.expect_end();
  }

  blackboard::Blackboard* board_ = nullptr;
  std::string name_;
  blackboard::EntryType type_;
  std::function<void(const Record&, unsigned from)> use_;
  std::vector<std::unique_ptr<Outgoing>> outgoing_;  // by analyzer
  std::vector<std::unique_ptr<Incoming>> incoming_;
};

}  // namespace ardoise::knowledge_sources
