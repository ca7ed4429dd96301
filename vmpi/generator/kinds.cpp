// docs/reference/mpi_functions.md explains each word.
#include "vmpi/generator/kinds.hpp"

#include <algorithm>
#include <array>

namespace ardoise::generator {
namespace {

using std::string_view_literals::operator""sv;

bool contains(auto const& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array kStrings = {"string"sv, "string_out"sv, "strings"sv, "file_name"sv};
constexpr std::array kCOnly = {"argc"sv, "argv"sv, "ellipsis"sv};
constexpr std::array kIntegers = {
    "count"sv,    "scount"sv,     "rcount"sv,        "type"sv,       "stype"sv,       "rtype"sv,
    "dest"sv,     "source"sv,     "root"sv,          "target"sv,     "tag"sv,         "stag"sv,
    "rtag"sv,     "comm"sv,       "request_count"sv, "op"sv,         "file"sv,        "win"sv,
    "request"sv,  "comm_out"sv,   "comm_inout"sv,    "comm_later"sv, "request_out"sv, "request_in"sv,
    "file_out"sv, "file_inout"sv, "win_out"sv,       "win_inout"sv,  "code"sv,        "flag"sv,
    "index"sv,    "out_count"sv,  "partitions"sv,    "group"sv,      "lock_type"sv,   "message_inout"sv};
constexpr std::array kCounts = {"count"sv, "scount"sv, "rcount"sv, "scounts"sv, "rcounts"sv};
constexpr std::array kIntegerArrays = {"scounts"sv,  "rcounts"sv, "stypes"sv,   "rtypes"sv,
                                       "requests"sv, "status"sv,  "statuses"sv, "indices"sv};
constexpr std::string_view kLargeCount = "large_count";  // MPI_Count in a function without a twin for large counts
constexpr std::array kChoiceBuffers = {"buf"sv, "sbuf"sv, "rbuf"sv, "choice"sv};
constexpr std::array kInert = {"int"sv,
                               "aint"sv,
                               "offset"sv,
                               "xcount"sv,
                               "in"sv,
                               "out"sv,
                               "pointer"sv,
                               "info"sv,
                               "datatype"sv,
                               "message"sv,
                               "errhandler"sv,
                               "function"sv,
                               "errhandler_function"sv,
                               "tool"sv,
                               "session"sv,
                               "status_in"sv,
                               "sdispls"sv,
                               "rdispls"sv};

std::vector<Rule> make_rules() {
  const std::vector<std::string> send = {"buf", "count", "type", "dest", "tag", "comm"};
  const std::vector<std::string> receive = {"buf", "count", "type", "source", "tag", "comm"};
  const std::vector<std::string> reduction = {"sbuf", "rbuf", "count", "type", "comm"};
  const std::vector<std::string> equal = {"sbuf", "scount", "stype", "rbuf", "rcount", "rtype", "comm"};
  const std::vector<std::string> gatherv = {"sbuf", "scount", "stype", "rbuf", "rcounts", "rtype", "comm"};
  const std::vector<std::string> alltoallv = {"sbuf", "scounts", "stype", "rbuf", "rcounts", "rtype", "comm"};
  const std::vector<std::string> alltoallw = {"sbuf", "scounts", "stypes", "rbuf", "rcounts", "rtypes", "comm"};
  const auto rooted = [](std::vector<std::string> kinds) {
    kinds.emplace_back("root");
    return kinds;
  };
  const std::vector<std::string> origin = {"buf", "count", "type", "target", "win"};
  const std::vector<std::string> file = {"file", "count", "type"};
  return {
      {"-", "kLocal", {}},
      {"send", "kSend", send},
      {"send_init", "kSend", send},
      {"receive", "kReceive", receive},
      {"post_receive", "kPostReceive", receive},
      {"receive_init", "kPostReceive", receive},
      {"partitioned_send_init", "kSend", {"partitions", "large_count", "type", "dest", "tag", "comm"}},
      {"partitioned_receive_init", "kPostReceive", {"partitions", "large_count", "type", "source", "tag", "comm"}},
      {"matched_receive", "kReceive", {"count", "type", "message_inout", "status"}},
      {"post_matched_receive", "kPostReceive", {"count", "type", "message_inout", "request_out"}},
      {"probe", "kProbe", {"source", "tag", "comm", "status"}},
      {"send_receive",
       "kSendReceive",
       {"scount", "stype", "dest", "stag", "rcount", "rtype", "source", "rtag", "comm", "status"}},
      {"send_receive_replace", "kSendReceive", {"count", "type", "dest", "stag", "source", "rtag", "comm", "status"}},
      {"post_send_receive",
       "kSendReceive",
       {"scount", "stype", "dest", "stag", "rcount", "rtype", "source", "rtag", "comm", "request_out"}},
      {"post_send_receive_replace",
       "kSendReceive",
       {"count", "type", "dest", "stag", "source", "rtag", "comm", "request_out"}},
      {"start", "kStart", {}},
      {"start_other", "kLocal", {"request_out"}},
      {"touches_request", "kLocal", {"request"}},
      {"free_request", "kCompletes", {"request"}},
      {"wait", "kCompletes", {"request", "status"}},
      {"test", "kCompletes", {"request", "flag", "status"}},
      {"wait_all", "kCompletes", {"request_count", "requests", "statuses"}},
      {"test_all", "kCompletes", {"request_count", "requests", "flag", "statuses"}},
      {"wait_any", "kCompletes", {"request_count", "requests", "index", "status"}},
      {"test_any", "kCompletes", {"request_count", "requests", "index", "flag", "status"}},
      {"wait_some", "kCompletes", {"request_count", "requests", "out_count", "indices", "statuses"}},
      {"barrier", "kCollective", {"comm"}},
      {"bcast", "kRooted", {"count", "type", "root", "comm"}},
      {"reduce", "kRooted", rooted(reduction)},
      {"allreduce", "kCollective", reduction},
      {"scan", "kCollective", reduction},
      {"exscan", "kCollective", reduction},
      {"reduce_scatter", "kCollective", {"sbuf", "rbuf", "rcounts", "type", "comm"}},
      {"reduce_scatter_block", "kCollective", {"sbuf", "rbuf", "rcount", "type", "comm"}},
      {"gather", "kRooted", rooted(equal)},
      {"gatherv", "kRooted", rooted(gatherv)},
      {"scatter", "kRooted", rooted(equal)},
      {"scatterv", "kRooted", {"sbuf", "scounts", "stype", "rbuf", "rcount", "rtype", "root", "comm"}},
      {"allgather", "kCollective", equal},
      {"allgatherv", "kCollective", gatherv},
      {"alltoall", "kCollective", equal},
      {"alltoallv", "kCollective", alltoallv},
      {"alltoallw", "kCollective", alltoallw},
      {"neighbour_allgather", "kNeighbour", equal},
      {"neighbour_allgatherv", "kNeighbour", gatherv},
      {"neighbour_alltoall", "kNeighbour", equal},
      {"neighbour_alltoallv", "kNeighbour", alltoallv},
      {"neighbour_alltoallw", "kNeighbour", alltoallw},
      {"put", "kPut", origin},
      {"get", "kGet", origin},
      {"get_accumulate", "kGet", {"count", "type", "rcount", "rtype", "target", "op", "win"}},
      {"fetch_and_op", "kGet", {"type", "target", "op", "win"}},
      {"compare_and_swap", "kGet", {"type", "target", "win"}},
      {"window", "kWindow", {"win"}},
      {"file_read", "kFileRead", {"file", "status"}},
      {"file_write", "kFileWrite", {"file", "status"}},
      {"begin_file_read", "kFileRead", file},
      {"begin_file_write", "kFileWrite", file},
      {"post_file_read", "kFileRead", file},
      {"post_file_write", "kFileWrite", file},
  };
}

}  // namespace

bool is_kind(std::string_view word) {
  return contains(kStrings, word) || contains(kCOnly, word) || contains(kIntegers, word) ||
         contains(kIntegerArrays, word) || contains(kChoiceBuffers, word) || contains(kInert, word) ||
         word == kLargeCount;
}

bool is_fortran_string(std::string_view kind) { return contains(kStrings, kind); }
bool is_c_parameter_only(std::string_view kind) { return contains(kCOnly, kind); }
bool is_fortran_integer(std::string_view kind) { return contains(kIntegers, kind) || contains(kIntegerArrays, kind); }
bool is_choice_buffer(std::string_view kind) { return contains(kChoiceBuffers, kind); }
bool is_large_integer(std::string_view kind, bool large_function) {
  return kind == kLargeCount || (large_function && contains(kCounts, kind));
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = make_rules();
  return all;
}

const Rule* find_rule(std::string_view name) {
  const auto found = std::find_if(rules().begin(), rules().end(), [&](const auto& rule) { return rule.name == name; });
  return found == rules().end() ? nullptr : &*found;
}

}  // namespace ardoise::generator
