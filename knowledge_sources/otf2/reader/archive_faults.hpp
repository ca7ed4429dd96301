// Errors of an archive, counted: a sentence for each kind of fault, with the first few cases.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ardoise::knowledge_sources {

// Not thread safe: each thread has its own, and they are merged.
class ArchiveFaults {
 public:
  struct Fault {
    std::uint64_t count = 0;
    std::vector<std::string> examples;  // the first ones
  };
  static constexpr std::size_t kExamples = 5;

  // kind: "locations without an event file"; example: "location 7 (Thread 1)", or "" if the kind is sufficient.
  void add(const std::string& kind, std::string example = "", std::uint64_t count = 1);
  void merge(const ArchiveFaults& other);

  [[nodiscard]] bool empty() const { return faults_.empty(); }
  [[nodiscard]] const std::map<std::string, Fault>& by_kind() const { return faults_; }
  // A sentence each: "3 locations without an event file: location 7, location 9, location 11."
  [[nodiscard]] std::vector<std::string> sentences() const;

 private:
  std::map<std::string, Fault> faults_;
};

}  // namespace ardoise::knowledge_sources
