#include "tools/replay/agreement.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>

namespace ardoise::replay {
namespace {

struct Count {  // messages of a channel between two processes
  std::int64_t comm, tag, messages;
};
using Counts = std::vector<std::vector<Count>>;  // by the other process

// Sends each process its list; returns the received lists.
Counts exchange(const Counts& lists) {
  constexpr int kWords = sizeof(Count) / sizeof(std::int64_t);
  const std::size_t size = lists.size();
  std::vector<int> send_counts(size), receive_counts(size), send_places(size), receive_places(size);
  std::vector<Count> send;
  for (std::size_t i = 0; i < size; ++i) {
    send_places[i] = static_cast<int>(send.size()) * kWords;
    send_counts[i] = static_cast<int>(lists[i].size()) * kWords;
    send.insert(send.end(), lists[i].begin(), lists[i].end());
  }
  PMPI_Alltoall(send_counts.data(), 1, MPI_INT, receive_counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  int sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    receive_places[i] = sum;
    sum += receive_counts[i];
  }
  std::vector<Count> received(static_cast<std::size_t>(sum / kWords));
  PMPI_Alltoallv(send.data(), send_counts.data(), send_places.data(), MPI_INT64_T, received.data(),
                 receive_counts.data(), receive_places.data(), MPI_INT64_T, MPI_COMM_WORLD);
  Counts all(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto first = received.begin() + receive_places[i] / kWords;
    all[i].assign(first, first + receive_counts[i] / kWords);
  }
  return all;
}

// Sends `own` to the others, and notes channels where the other end has fewer.
void compare(const ArchiveWorld& world, const std::map<Channel, std::uint64_t>& own,
             const std::map<Channel, std::uint64_t>& others_own, std::int32_t rank, bool sends,
             std::map<Channel, std::uint64_t>& limits, Agreement& agreement) {
  // Counts of the others for the opposite direction.
  Counts lists(static_cast<std::size_t>(world.ranks()));
  for (const auto& [channel, messages] : others_own) {
    const std::int32_t other = sends ? channel.sender : channel.receiver;
    if (other >= 0 && other < world.ranks())
      lists[static_cast<std::size_t>(other)].push_back(
          {channel.comm, channel.tag, static_cast<std::int64_t>(messages)});
  }
  const Counts of_others = exchange(lists);
  std::map<Channel, std::uint64_t> there;
  for (std::int32_t other = 0; other < world.ranks(); ++other) {
    for (const Count& each : of_others[static_cast<std::size_t>(other)]) {
      const auto comm = static_cast<std::uint32_t>(each.comm);
      const auto tag = static_cast<std::int32_t>(each.tag);
      there[sends ? Channel{comm, rank, other, tag} : Channel{comm, other, rank, tag}] =
          static_cast<std::uint64_t>(each.messages);
    }
  }
  for (const auto& [channel, messages] : own) {
    const auto found = there.find(channel);
    const std::uint64_t has = found == there.end() ? 0 : found->second;
    if (messages <= has) continue;
    limits.emplace(channel, has);
    agreement.left_out += messages - has;
    if (agreement.example.empty())
      agreement.example =
          fmt::format("from rank {} to rank {} with tag {}: {} {}, {} {}", channel.sender, channel.receiver,
                      channel.tag, messages, sends ? "sent" : "received", has, sends ? "received" : "sent");
  }
}

void compare_collectives(const ArchiveWorld& world, std::int32_t rank, const ScriptSummary& summary) {
  std::vector<std::int64_t> least, most;
  for (const ReplayComm& comm : world.comms()) {
    const bool is_member =
        !comm.is_self && std::ranges::count(comm.members, rank) + std::ranges::count(comm.others, rank) != 0;
    const auto found = summary.collectives.find(comm.number);
    const auto own = found == summary.collectives.end() ? std::int64_t{0} : static_cast<std::int64_t>(found->second);
    least.push_back(is_member ? own : INT64_MAX);
    most.push_back(is_member ? own : 0);
  }
  const auto size = static_cast<int>(least.size());
  PMPI_Allreduce(MPI_IN_PLACE, least.data(), size, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  PMPI_Allreduce(MPI_IN_PLACE, most.data(), size, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < least.size(); ++i) {
    if (least[i] >= most[i]) continue;
    const ReplayComm& comm = world.comms()[i];
    const auto* const named = world.definitions().comms.find(comm.number);
    const std::string name =
        named != nullptr && !named->name.empty() ? named->name : fmt::format("communicator {}", comm.number);
    throw ReplayError(
        fmt::format("members of {} take part in {} to {} of its collectives: the trace is incomplete, and a replay "
                    "would hang. Record "
                    "everything (--trace all,attributes=arguments)",
                    name, least[i], most[i]));
  }
}

}  // namespace

Agreement agree(const ArchiveWorld& world, std::int32_t rank, const ScriptSummary& summary) {
  Agreement agreement;
  compare(world, summary.sends, summary.receives, rank, true, agreement.most_sends, agreement);
  compare(world, summary.receives, summary.sends, rank, false, agreement.most_receives, agreement);
  compare_collectives(world, rank, summary);
  return agreement;
}

void agree_on_errors(const std::string& error) {
  int rank = 0, size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  int first = error.empty() ? size : rank;
  PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == size) return;
  int length = static_cast<int>(error.size());
  PMPI_Bcast(&length, 1, MPI_INT, first, MPI_COMM_WORLD);
  std::string text = error;
  text.resize(static_cast<std::size_t>(length));
  PMPI_Bcast(text.data(), length, MPI_CHAR, first, MPI_COMM_WORLD);
  throw ReplayError(text);
}

}  // namespace ardoise::replay
