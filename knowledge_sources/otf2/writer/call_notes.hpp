// Data on a part's calls that becomes known after their records were written, sometimes after the event files are
// closed: waiting times (knowledge_sources/matching/wait_spans.hpp), and values of knowledge sources and plug-ins
// (event_values.hpp). Written to a file `notes` beside the events, in blocks.
//
//   block = header { kind, rank, count, missing } bytes
//   kind    waits: of a rank, count × RankWait      values: of a rank, count × NotedValue
//           key: definition of the next key of the file, count bytes      text: the next one, count bytes
//   missing: further ones of the rank that were dropped for lack of room
//
// They are read rank by rank when the archive is made, and attached to the calls (copied_calls.hpp).
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "knowledge_sources/interface/event_values.hpp"
#include "knowledge_sources/matching/wait_spans.hpp"

namespace ardoise::knowledge_sources {

struct NotedValue {
  std::uint32_t key, thread;  // key: number in the file
  EventPlace place;
  std::uint32_t reserved;
  std::uint64_t tick, bits;  // for a text, its number in the file
};

// Any thread. Memory: 5 KiB for each rank with notes, and the texts.
class CallNotes {
 public:
  static constexpr std::size_t kBlock = 64;                 // waits or values
  static constexpr std::uint64_t kMostOfRank = 1ull << 20;  // of both; 48 MiB when they are read
  static constexpr std::size_t kMostKeys = 4096, kMostTexts = 65536, kMostTextBytes = 16u << 20;

  // fail: called with the reason when the file cannot be written; later notes are lost.
  CallNotes(std::filesystem::path part, std::function<void(const std::string& reason)> fail);

  // Waits of one rank.
  void add(std::span<const RankWait> waits);
  // From an entry of EventValues. Only for ranks with has_rank(rank). Throws BadPartial.
  void add_values(std::span<const std::byte> bytes_untrusted, const std::function<bool(std::uint32_t)>& has_rank);
  // Writes incomplete blocks. May be called again after further notes.
  void flush();

 private:
  enum class Kind : std::uint32_t { kWaits, kValues, kKey, kText };
  struct Block {
    Kind kind;
    std::uint32_t rank, count, reserved;
    std::uint64_t missing;
  };
  struct OfRank {
    std::vector<RankWait> waits;
    std::vector<NotedValue> values;
    std::uint64_t taken = 0, missing = 0;
  };
  template <class Note>
  void add(std::uint32_t rank, OfRank& of_rank, std::vector<Note>& held, const Note& note);
  template <class Note>
  void write(Kind kind, std::uint32_t rank, OfRank& of_rank, std::vector<Note>& held);
  void write(const Block& block, std::span<const std::byte> bytes);
  void fail();
  // Number in the file; kNone: there is no room.
  static constexpr std::uint32_t kNone = UINT32_MAX;
  [[nodiscard]] std::uint32_t number_of(const EventKeyDefinition& key);
  [[nodiscard]] std::uint32_t number_of(std::string_view text);

  const std::filesystem::path file_name_;
  const std::function<void(const std::string&)> fail_;
  std::mutex mutex_;  // guards the members below
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  bool has_failed_ = false;
  std::map<std::uint32_t, OfRank> ranks_;
  std::map<EventKeyDefinition, std::uint32_t> keys_;
  std::map<std::string, std::uint32_t, std::less<>> texts_;
  std::size_t text_bytes_ = 0;

  friend class NotesOfPart;
};

// The finished notes. An unfinished block of an analyzer that was killed is skipped.
class NotesOfPart {
 public:
  explicit NotesOfPart(const std::filesystem::path& part);

  [[nodiscard]] bool is_empty() const { return ranks_.empty(); }
  [[nodiscard]] bool has(std::uint32_t rank) const { return ranks_.contains(rank); }
  // By number.
  [[nodiscard]] const std::vector<EventKeyDefinition>& keys() const { return keys_; }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  // Unordered. missing: incremented by the notes dropped for lack of room.
  void add_to(std::vector<RankWait>& waits, std::vector<NotedValue>& values, std::uint32_t rank,
              std::uint64_t& missing) const;

 private:
  struct Block {
    bool has_waits;
    std::uint64_t at;
    std::uint32_t count;
  };
  struct OfRank {
    std::vector<Block> blocks;
    std::uint64_t missing = 0;
  };
  std::filesystem::path file_name_;
  std::map<std::uint32_t, OfRank> ranks_;
  std::vector<EventKeyDefinition> keys_;
  std::vector<std::string> texts_;
};

}  // namespace ardoise::knowledge_sources
