#include "knowledge_sources/otf2/writer/function_kinds.hpp"

#include <array>
#include <string_view>

#include "instrument/format/event_reader.hpp"
#include "knowledge_sources/matching/collective_kind.hpp"
#include "vmpi/mpi_functions.hpp"

namespace ardoise::knowledge_sources {
namespace {

struct NamedOp {
  std::string_view name;  // in small letters
  OTF2_CollectiveOp op;
};
constexpr std::array<NamedOp, 17> kOps{{{"barrier", OTF2_COLLECTIVE_OP_BARRIER},
                                        {"bcast", OTF2_COLLECTIVE_OP_BCAST},
                                        {"gather", OTF2_COLLECTIVE_OP_GATHER},
                                        {"gatherv", OTF2_COLLECTIVE_OP_GATHERV},
                                        {"scatter", OTF2_COLLECTIVE_OP_SCATTER},
                                        {"scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
                                        {"allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
                                        {"allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
                                        {"alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
                                        {"alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
                                        {"alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
                                        {"allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
                                        {"reduce", OTF2_COLLECTIVE_OP_REDUCE},
                                        {"reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
                                        {"reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
                                        {"scan", OTF2_COLLECTIVE_OP_SCAN},
                                        {"exscan", OTF2_COLLECTIVE_OP_EXSCAN}}};

constexpr std::string_view without(std::string_view name, std::string_view prefix) {
  if (name.substr(0, prefix.size()) == prefix) name.remove_prefix(prefix.size());
  return name;
}

// "MPI_Ineighbor_alltoallv" is an "alltoallv".
constexpr OTF2_CollectiveOp op_of(const vmpi::FunctionTraits& function) {
  std::string_view name = without(function.name, "MPI_");
  if (name.size() > 2 && name.substr(name.size() - 2) == "_c") name.remove_suffix(2);
  if (function.starts_request) name = without(name, "I");
  name = without(without(name, "Neighbor_"), "neighbor_");
  for (const NamedOp& each : kOps) {
    if (name.size() == each.name.size() && (name[0] | 0x20) == each.name[0] && name.substr(1) == each.name.substr(1))
      return each.op;
  }
  return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
}

constexpr auto kOpOfFunction = [] {
  std::array<OTF2_CollectiveOp, vmpi::kFunctionCount> ops{};
  for (std::size_t i = 0; i < ops.size(); ++i) ops[i] = op_of(vmpi::kFunctionTraits[i]);
  return ops;
}();

constexpr auto kMakesHandle = [] {
  std::array<bool, vmpi::kFunctionCount> makes{};
  for (std::size_t i = 0; i < makes.size(); ++i) {
    const std::string_view name = vmpi::kFunctionTraits[i].name;
    const CollectiveKind kind = collective_kind(static_cast<std::uint32_t>(i));
    makes[i] = (kind == CollectiveKind::kObject && !vmpi::kFunctionTraits[i].starts_request) ||
               (kind == CollectiveKind::kWindow && name.find("create") != name.npos) ||
               (kind == CollectiveKind::kWindow && name.find("allocate") != name.npos) || name == "MPI_File_open";
  }
  return makes;
}();

OTF2_RegionRole collective_role(OTF2_CollectiveOp op) {
  switch (op) {
    case OTF2_COLLECTIVE_OP_BARRIER:
      return OTF2_REGION_ROLE_BARRIER;
    case OTF2_COLLECTIVE_OP_BCAST:
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
      return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case OTF2_COLLECTIVE_OP_REDUCE:
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
      return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case OTF2_COLLECTIVE_OP_SCAN:
    case OTF2_COLLECTIVE_OP_EXSCAN:
    case OTF2_COLLECTIVE_OP_CREATE_HANDLE:
      return OTF2_REGION_ROLE_COLL_OTHER;
    default:
      return OTF2_REGION_ROLE_COLL_ALL2ALL;
  }
}

}  // namespace

bool is_collective(const instrument::MpiRecord& record) {
  using instrument::Shape;
  const Shape shape = record.shape();
  if (instrument::goes_both_ways(shape)) return true;
  return shape == Shape::kLocal && record.comm() != instrument::kNoComm && record.function() < kMakesHandle.size() &&
         kMakesHandle[record.function()];
}

OTF2_CollectiveOp collective_op(std::uint32_t function) {
  if (function >= kOpOfFunction.size()) return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
  return kOpOfFunction[function];
}

RegionKind mpi_region(std::uint32_t function) {
  using vmpi::Role;
  if (function >= vmpi::kFunctionCount) return {OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI};
  OTF2_RegionRole role = OTF2_REGION_ROLE_FUNCTION;
  switch (vmpi::kFunctionTraits[function].role) {
    case Role::kSend:
    case Role::kReceive:
    case Role::kPostReceive:
    case Role::kSendReceive:
    case Role::kStart:
    case Role::kCompletes:
    case Role::kProbe:
      role = OTF2_REGION_ROLE_POINT2POINT;
      break;
    case Role::kCollective:
    case Role::kRooted:
    case Role::kNeighbour:
      role = collective_role(collective_op(function));
      break;
    case Role::kPut:
    case Role::kGet:
    case Role::kWindow:
      role = OTF2_REGION_ROLE_RMA;
      break;
    case Role::kFileRead:
    case Role::kFileWrite:
      role = OTF2_REGION_ROLE_FILE_IO;
      break;
    case Role::kLocal:
      break;
  }
  return {role, OTF2_PARADIGM_MPI};
}

RegionKind posix_region(std::uint32_t function) {
  const auto category = instrument::posix_function_info(static_cast<std::uint16_t>(function)).category;
  OTF2_RegionRole role = OTF2_REGION_ROLE_FILE_IO;
  if (category == instrument::PosixCategory::kMetadata) role = OTF2_REGION_ROLE_FILE_IO_METADATA;
  return {role, OTF2_PARADIGM_NONE};
}

MissingObjects missing_objects(const instrument::MpiRecord& record) {
  MissingObjects untold;
  if (record.function() >= vmpi::kFunctionCount) return untold;
  const vmpi::FunctionTraits& traits = vmpi::kFunctionTraits[record.function()];
  const std::string_view category = traits.category;
  switch (record.shape()) {
    case instrument::Shape::kPostReceive:
      untold.communicator = true;
      break;
    case instrument::Shape::kProbe:
      untold.communicator = untold.peer = untold.tag = true;
      break;
    case instrument::Shape::kCollective:
    case instrument::Shape::kNeighbour:
      untold.communicator = traits.starts_request;
      break;
    case instrument::Shape::kRooted:
      untold.communicator = untold.peer = traits.starts_request;
      break;
    case instrument::Shape::kWindow:
      untold.window = untold.peer = true;
      break;
    case instrument::Shape::kLocal:
      untold.prepares = traits.persistent;
      if (traits.persistent) {
        untold.communicator = untold.peer = untold.tag = true;
      } else if (category == "one-sided") {
        untold.window = !traits.is_query && record.comm() != instrument::kNoComm;
      } else if (category == "io") {
        untold.file = true;
      } else if (category == "communicator" || category == "topology" || category == "process") {
        untold.communicator = !traits.is_query;
      }
      break;
    default:
      break;
  }
  return untold;
}

std::optional<OTF2_RmaAtomicType> atomic_type(std::uint32_t function) {
  switch (static_cast<vmpi::FunctionId>(function)) {
    case vmpi::FunctionId::kAccumulate:
    case vmpi::FunctionId::kAccumulate_c:
    case vmpi::FunctionId::kRaccumulate:
    case vmpi::FunctionId::kRaccumulate_c:
      return OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
    case vmpi::FunctionId::kGet_accumulate:
    case vmpi::FunctionId::kGet_accumulate_c:
    case vmpi::FunctionId::kRget_accumulate:
    case vmpi::FunctionId::kRget_accumulate_c:
    case vmpi::FunctionId::kFetch_and_op:
      return OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE;
    case vmpi::FunctionId::kCompare_and_swap:
      return OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP;
    default:
      return std::nullopt;
  }
}

std::optional<OTF2_IoOperationMode> io_mode(instrument::PosixCategory category) {
  switch (category) {
    case instrument::PosixCategory::kRead:
      return OTF2_IO_OPERATION_MODE_READ;
    case instrument::PosixCategory::kWrite:
      return OTF2_IO_OPERATION_MODE_WRITE;
    case instrument::PosixCategory::kSync:
      return OTF2_IO_OPERATION_MODE_FLUSH;
    case instrument::PosixCategory::kMetadata:
    case instrument::PosixCategory::kMapping:
      break;
  }
  return std::nullopt;
}

}  // namespace ardoise::knowledge_sources
