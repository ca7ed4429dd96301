// Collectives of communicators and of neighbourhoods.
#include <algorithm>

#include "tools/replay/player.hpp"

namespace ardoise::replay {

using vmpi::ArgumentKind;
using vmpi::FunctionId;

namespace {

struct Members {
  int count = 0;  // size of the destination group
  int rank = 0;   // own, in the communicator
  bool is_inter = false;
};

Members members_of(MPI_Comm comm) {
  Members members;
  int is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  members.is_inter = is_inter != 0;
  PMPI_Comm_rank(comm, &members.rank);
  if (members.is_inter) {
    PMPI_Comm_remote_size(comm, &members.count);
  } else {
    PMPI_Comm_size(comm, &members.count);
  }
  return members;
}

Members neighbours_of(MPI_Comm comm, int& sources) {
  Members members;
  PMPI_Comm_rank(comm, &members.rank);
  int kind = MPI_UNDEFINED, weighted = 0;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) {
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    members.count = sources = 2 * dimensions;
  } else if (kind == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &sources, &members.count, &weighted);
  }
  return members;
}

int root_of(std::int32_t root) {
  if (root == kRootGroup) return MPI_ROOT;
  return root >= 0 ? root : MPI_PROC_NULL;
}

}  // namespace

Extent Player::fill(Side& side, std::span<const std::int64_t> counts, std::span<const std::int64_t> places,
                    std::span<const std::int64_t> types, const ReplayType& type) {
  Extent touched;
  side.counts.clear();
  side.displacements.clear();
  side.addresses.clear();
  side.types.clear();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const ReplayType& of =
        types.empty() ? type : stage_.types[static_cast<std::uint32_t>(types[std::min(i, types.size() - 1)])];
    const std::int64_t count = scaled(counts[i]);
    std::int64_t place = i < places.size() ? places[i] : 0;
    if (stage_.options.bytes > 1) place = scaled(place);
    side.counts.push_back(static_cast<int>(count));
    side.displacements.push_back(static_cast<int>(place));
    side.addresses.push_back(static_cast<MPI_Aint>(place));
    side.types.push_back(of.handle);
    if (count > 0) touched.add(extent(count, of).moved(types.empty() ? place * of.extent : place));
  }
  return touched;
}

void Player::make_collective(const CallShape& shape, const Lists& lists, MPI_Request* request, std::uint32_t slot) {
  const MPI_Comm comm = stage_.comms.get(shape.comm);
  const Members members = members_of(comm);
  const ReplayType& type = stage_.types[shape.type];
  const ReplayType& receive_type = stage_.types[shape.receive_type];
  const auto count = static_cast<int>(scaled(shape.count));
  const auto receive_count = static_cast<int>(scaled(shape.receive_count));
  const bool in_place = (shape.flags & CallShape::kInPlace) != 0;
  const int root = root_of(shape.peer);
  const auto send = [&](const Extent& touched) -> void* {
    if (in_place) return MPI_IN_PLACE;
    return slot == kNothing ? buffers_.send(touched) : buffers_.own(slot, false, touched);
  };
  const auto receive = [&](const Extent& touched) {
    return slot == kNothing ? buffers_.receive(touched) : buffers_.own(slot, true, touched);
  };
  Side& out = sides_of(slot).out;
  Side& in = sides_of(slot).in;
  const auto fill_out = [&] {
    return fill(out, lists.find(list_of(ArgumentKind::kSendCounts)),
                lists.find(list_of(ArgumentKind::kSendDisplacements)), lists.find(list_of(ArgumentKind::kSendTypes)),
                type);
  };
  const auto fill_in = [&] {
    return fill(in, lists.find(list_of(ArgumentKind::kReceiveCounts)),
                lists.find(list_of(ArgumentKind::kReceiveDisplacements)),
                lists.find(list_of(ArgumentKind::kReceiveTypes)), receive_type);
  };
  const auto all = [&](int each) { return static_cast<std::int64_t>(each) * members.count; };
  // Without arguments: equal numbers of bytes for each.
  const bool is_known = (shape.flags & CallShape::kAsBytes) == 0;
  const bool is_root = root == members.rank && !members.is_inter;
// The blocking or the non-blocking function.
#define ARDOISE_EITHER(name, iname, ...) \
  (void)(request == nullptr ? MPI_##name(__VA_ARGS__) : MPI_##iname(__VA_ARGS__, request))
  switch (static_cast<FunctionId>(shape.function)) {
    case FunctionId::kBarrier:
    case FunctionId::kIbarrier:
    case FunctionId::kBarrier_init:
      ARDOISE_EITHER(Barrier, Ibarrier, comm);
      return;
    case FunctionId::kBcast:
    case FunctionId::kIbcast:
    case FunctionId::kBcast_init:
      ARDOISE_EITHER(Bcast, Ibcast, receive(extent(count, type)), count, type.handle, root, comm);
      return;
    case FunctionId::kReduce:
    case FunctionId::kIreduce:
    case FunctionId::kReduce_init:
      ARDOISE_EITHER(Reduce, Ireduce, send(extent(count, type)), receive(extent(count, type)), count, type.handle,
                     operation(shape, type), root, comm);
      return;
    case FunctionId::kAllreduce:
    case FunctionId::kIallreduce:
    case FunctionId::kAllreduce_init:
      ARDOISE_EITHER(Allreduce, Iallreduce, send(extent(count, type)), receive(extent(count, type)), count, type.handle,
                     operation(shape, type), comm);
      return;
    case FunctionId::kScan:
    case FunctionId::kIscan:
    case FunctionId::kScan_init:
      ARDOISE_EITHER(Scan, Iscan, send(extent(count, type)), receive(extent(count, type)), count, type.handle,
                     operation(shape, type), comm);
      return;
    case FunctionId::kExscan:
    case FunctionId::kIexscan:
    case FunctionId::kExscan_init:
      ARDOISE_EITHER(Exscan, Iexscan, send(extent(count, type)), receive(extent(count, type)), count, type.handle,
                     operation(shape, type), comm);
      return;
    case FunctionId::kReduce_scatter_block:
    case FunctionId::kIreduce_scatter_block:
    case FunctionId::kReduce_scatter_block_init: {
      const int each = is_known ? receive_count : count;
      const Extent touched = extent(all(each), type);
      ARDOISE_EITHER(Reduce_scatter_block, Ireduce_scatter_block, send(touched), receive(touched), each, type.handle,
                     operation(shape, type), comm);
      return;
    }
    case FunctionId::kReduce_scatter:
    case FunctionId::kIreduce_scatter:
    case FunctionId::kReduce_scatter_init: {
      if (!is_known) {
        out.counts.assign(static_cast<std::size_t>(members.count), count);
      } else {
        (void)fill(out, lists.find(list_of(ArgumentKind::kReceiveCounts)), {}, {}, type);
      }
      std::int64_t sum = 0;
      for (const int each : out.counts) sum += each;
      const Extent touched = extent(sum, type);
      ARDOISE_EITHER(Reduce_scatter, Ireduce_scatter, send(touched), receive(touched), out.counts.data(), type.handle,
                     operation(shape, type), comm);
      return;
    }
    case FunctionId::kGather:
    case FunctionId::kIgather:
    case FunctionId::kGather_init:
      ARDOISE_EITHER(Gather, Igather, send(extent(count, type)), count, type.handle,
                     receive(extent(is_root || root == MPI_ROOT ? all(receive_count) : 0, receive_type)), receive_count,
                     receive_type.handle, root, comm);
      return;
    case FunctionId::kScatter:
    case FunctionId::kIscatter:
    case FunctionId::kScatter_init: {
      void* const from = slot == kNothing ? buffers_.send(extent(all(count), type))
                                          : buffers_.own(slot, false, extent(all(count), type));
      void* const into = in_place ? MPI_IN_PLACE : receive(extent(receive_count, receive_type));
      ARDOISE_EITHER(Scatter, Iscatter, from, count, type.handle, into, receive_count, receive_type.handle, root, comm);
      return;
    }
    case FunctionId::kAllgather:
    case FunctionId::kIallgather:
    case FunctionId::kAllgather_init:
      ARDOISE_EITHER(Allgather, Iallgather, send(extent(count, type)), count, type.handle,
                     receive(extent(all(receive_count), receive_type)), receive_count, receive_type.handle, comm);
      return;
    case FunctionId::kAlltoall:
    case FunctionId::kIalltoall:
    case FunctionId::kAlltoall_init:
      ARDOISE_EITHER(Alltoall, Ialltoall, send(extent(all(count), type)), count, type.handle,
                     receive(extent(all(receive_count), receive_type)), receive_count, receive_type.handle, comm);
      return;
    case FunctionId::kGatherv:
    case FunctionId::kIgatherv:
    case FunctionId::kGatherv_init: {
      if (!is_known) {
        ARDOISE_EITHER(Gather, Igather, send(extent(count, type)), count, type.handle,
                       receive(extent(all(count), type)), count, type.handle, root, comm);
        return;
      }
      const Extent touched = fill_in();
      ARDOISE_EITHER(Gatherv, Igatherv, send(extent(count, type)), count, type.handle, receive(touched),
                     in.counts.data(), in.displacements.data(), receive_type.handle, root, comm);
      return;
    }
    case FunctionId::kScatterv:
    case FunctionId::kIscatterv:
    case FunctionId::kScatterv_init: {
      if (!is_known) {
        ARDOISE_EITHER(Scatter, Iscatter, buffers_.send(extent(all(count), type)), count, type.handle,
                       receive(extent(count, type)), count, type.handle, root, comm);
        return;
      }
      const Extent touched = fill_out();
      void* const from = slot == kNothing ? buffers_.send(touched) : buffers_.own(slot, false, touched);
      void* const into = in_place ? MPI_IN_PLACE : receive(extent(receive_count, receive_type));
      ARDOISE_EITHER(Scatterv, Iscatterv, from, out.counts.data(), out.displacements.data(), type.handle, into,
                     receive_count, receive_type.handle, root, comm);
      return;
    }
    case FunctionId::kAllgatherv:
    case FunctionId::kIallgatherv:
    case FunctionId::kAllgatherv_init: {
      if (!is_known) {
        ARDOISE_EITHER(Allgather, Iallgather, send(extent(count, type)), count, type.handle,
                       receive(extent(all(count), type)), count, type.handle, comm);
        return;
      }
      const Extent touched = fill_in();
      ARDOISE_EITHER(Allgatherv, Iallgatherv, send(extent(count, type)), count, type.handle, receive(touched),
                     in.counts.data(), in.displacements.data(), receive_type.handle, comm);
      return;
    }
    case FunctionId::kAlltoallv:
    case FunctionId::kIalltoallv:
    case FunctionId::kAlltoallv_init: {
      if (!is_known) {
        ARDOISE_EITHER(Alltoall, Ialltoall, send(extent(all(count), type)), count, type.handle,
                       receive(extent(all(count), type)), count, type.handle, comm);
        return;
      }
      const Extent from = fill_out(), into = fill_in();
      ARDOISE_EITHER(Alltoallv, Ialltoallv, send(from), out.counts.data(), out.displacements.data(), type.handle,
                     receive(into), in.counts.data(), in.displacements.data(), receive_type.handle, comm);
      return;
    }
    case FunctionId::kAlltoallw:
    case FunctionId::kIalltoallw:
    case FunctionId::kAlltoallw_init: {
      if (!is_known) {
        ARDOISE_EITHER(Alltoall, Ialltoall, send(extent(all(count), type)), count, type.handle,
                       receive(extent(all(count), type)), count, type.handle, comm);
        return;
      }
      const Extent from = fill_out(), into = fill_in();
      ARDOISE_EITHER(Alltoallw, Ialltoallw, send(from), out.counts.data(), out.displacements.data(), out.types.data(),
                     receive(into), in.counts.data(), in.displacements.data(), in.types.data(), comm);
      return;
    }
    default:
      return;
  }
}

void Player::make_neighbourhood(const CallShape& shape, const Lists& lists, MPI_Request* request, std::uint32_t slot) {
  const MPI_Comm comm = stage_.comms.get(shape.comm);
  int sources = 0;
  const Members members = neighbours_of(comm, sources);
  const ReplayType& type = stage_.types[shape.type];
  const ReplayType& receive_type = stage_.types[shape.receive_type];
  const auto count = static_cast<int>(scaled(shape.count));
  const auto receive_count = static_cast<int>(scaled(shape.receive_count));
  const auto send = [&](const Extent& touched) {
    return slot == kNothing ? buffers_.send(touched) : buffers_.own(slot, false, touched);
  };
  const auto receive = [&](const Extent& touched) {
    return slot == kNothing ? buffers_.receive(touched) : buffers_.own(slot, true, touched);
  };
  Side& out = sides_of(slot).out;
  Side& in = sides_of(slot).in;
  const Extent from =
      fill(out, lists.find(list_of(ArgumentKind::kSendCounts)), lists.find(list_of(ArgumentKind::kSendDisplacements)),
           lists.find(list_of(ArgumentKind::kSendTypes)), type);
  const Extent into = fill(in, lists.find(list_of(ArgumentKind::kReceiveCounts)),
                           lists.find(list_of(ArgumentKind::kReceiveDisplacements)),
                           lists.find(list_of(ArgumentKind::kReceiveTypes)), receive_type);
  const auto all = [](int each, int of) { return static_cast<std::int64_t>(each) * of; };
  switch (static_cast<FunctionId>(shape.function)) {
    case FunctionId::kNeighbor_allgather:
    case FunctionId::kIneighbor_allgather:
    case FunctionId::kNeighbor_allgather_init:
      ARDOISE_EITHER(Neighbor_allgather, Ineighbor_allgather, send(extent(count, type)), count, type.handle,
                     receive(extent(all(receive_count, sources), receive_type)), receive_count, receive_type.handle,
                     comm);
      return;
    case FunctionId::kNeighbor_allgatherv:
    case FunctionId::kIneighbor_allgatherv:
    case FunctionId::kNeighbor_allgatherv_init:
      ARDOISE_EITHER(Neighbor_allgatherv, Ineighbor_allgatherv, send(extent(count, type)), count, type.handle,
                     receive(into), in.counts.data(), in.displacements.data(), receive_type.handle, comm);
      return;
    case FunctionId::kNeighbor_alltoall:
    case FunctionId::kIneighbor_alltoall:
    case FunctionId::kNeighbor_alltoall_init:
      ARDOISE_EITHER(Neighbor_alltoall, Ineighbor_alltoall, send(extent(all(count, members.count), type)), count,
                     type.handle, receive(extent(all(receive_count, sources), receive_type)), receive_count,
                     receive_type.handle, comm);
      return;
    case FunctionId::kNeighbor_alltoallv:
    case FunctionId::kIneighbor_alltoallv:
    case FunctionId::kNeighbor_alltoallv_init:
      ARDOISE_EITHER(Neighbor_alltoallv, Ineighbor_alltoallv, send(from), out.counts.data(), out.displacements.data(),
                     type.handle, receive(into), in.counts.data(), in.displacements.data(), receive_type.handle, comm);
      return;
    case FunctionId::kNeighbor_alltoallw:
    case FunctionId::kIneighbor_alltoallw:
    case FunctionId::kNeighbor_alltoallw_init:
      ARDOISE_EITHER(Neighbor_alltoallw, Ineighbor_alltoallw, send(from), out.counts.data(), out.addresses.data(),
                     out.types.data(), receive(into), in.counts.data(), in.addresses.data(), in.types.data(), comm);
      return;
    default:
      return;
  }
}
#undef ARDOISE_EITHER

}  // namespace ardoise::replay
