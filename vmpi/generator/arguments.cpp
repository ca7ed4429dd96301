#include "vmpi/generator/arguments.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ardoise::generator {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kTold = {"point-to-point"sv, "wait"sv, "collective"sv,   "neighbourhood"sv,
                              "one-sided"sv,      "io"sv,   "communicator"sv, "topology"sv};

struct Single {
  std::string_view kind, enumerator, reader;
};
// Arguments that arguments::READER reads.
constexpr std::array kSingles = {Single{"count", "kCount", "value"},
                                 Single{"large_count", "kCount", "value"},
                                 Single{"scount", "kSendCount", "value"},
                                 Single{"rcount", "kReceiveCount", "value"},
                                 Single{"partitions", "kPartitions", "value"},
                                 Single{"type", "kType", "type_word"},
                                 Single{"stype", "kSendType", "type_word"},
                                 Single{"rtype", "kReceiveType", "type_word"},
                                 Single{"datatype", "kOtherType", "type_word"},
                                 Single{"source", "kSource", "value"},
                                 Single{"rtag", "kReceiveTag", "value"},
                                 Single{"op", "kOperation", "operation"},
                                 Single{"flag", "kFlag", "is_true"},
                                 Single{"request_in", "kRequests", "request_word"},
                                 Single{"int", "kInteger", "integer"},
                                 Single{"aint", "kAddress", "address"},
                                 Single{"offset", "kOffset", "address"}};

class ArgumentWriter {
 public:
  ArgumentWriter(const Function& function, const NameOf& name_of, bool is_fortran)
      : function_(function), rule_(function.rule), name_of_(name_of), is_fortran_(is_fortran) {}

  std::string write() {
    write_sides();
    bool is_second_comm = false;
    for (std::size_t i = 0; i < function_.kinds.size(); ++i) {
      const std::string& kind = function_.kinds[i];
      const std::string name = name_of_(static_cast<int>(i));
      if (kind == "comm" && std::exchange(is_second_comm, true))
        add("kOtherCommunicator", "handle_word(arguments::comm_of(" + name + "))", "");
      write_single(kind, name);
      write_array(kind, name);
    }
    if (function_.has("status") && rule_ != "-") add("kStatusIgnored", "1", "status_argument.is_ignored()");
    if (function_.has("statuses")) add("kStatusIgnored", "1", "status_argument.is_ignored()");
    if (function_.has("index")) add("kIndex", "call.completed_count == 1 ? index_after : -1", "");
    if (rule_ == "wait_some") add_array("call.completed_indices", "kCompleted", "call.completed_count", "");
    if (function_.has("comm_out"))
      add("kNewCommunicator", "handle_word(call.new_comm)", "call.new_comm != MPI_COMM_NULL");
    std::string before;
    if (function_.category == "topology" && function_.has("comm_out")) {
      before =
          "  Neighbourhood made(watching->wants_arguments && code == MPI_SUCCESS ? call.new_comm : "
          "MPI_COMM_NULL);\n";
      add_array("made.source_ranks()", "kSources", "made.sources()", "made.sources() != 0");
      add_array("made.destination_ranks()", "kDestinations", "made.destinations()", "made.destinations() != 0");
    }
    // The observer itself reports the requests that these rules use.
    const bool uses_requests = rule_ == "start" || rule_ == "free_request" || rule_ == "touches_request";
    if (added_ == 0 && !uses_requests) return "";
    return before + "  ArgumentList<" + std::to_string(std::max(added_, 1)) + "> argument_list;\n" +
           "  if (watching->wants_arguments && code == MPI_SUCCESS) [[unlikely]] {\n" + text_ +
           "    argument_list.tell(call);\n  }\n";
  }

 private:
  void line(const std::string& text) { text_ += "    " + text + "\n"; }
  void add(std::string_view enumerator, const std::string& value, const std::string& condition) {
    ++added_;
    line((condition.empty() ? "" : "if (" + condition + ") ") +
         "argument_list.add(ArgumentKind::" + std::string(enumerator) + ", " + value + ");");
  }
  void add_array(const std::string& array, std::string_view enumerator, const std::string& count,
                 const std::string& condition) {
    ++added_;
    line((condition.empty() ? "" : "if (" + condition + ") ") +
         "argument_list.add_array(ArgumentKind::" + std::string(enumerator) + ", " + array + ", " + count + ");");
  }
  [[nodiscard]] bool is_gather() const { return rule_ == "gather" || rule_ == "gatherv"; }
  [[nodiscard]] bool is_scatter() const { return rule_ == "scatter" || rule_ == "scatterv"; }
  [[nodiscard]] bool has_sides() const { return is_gather() || is_scatter(); }

  // Writes the declarations that the conditions below use.
  void write_sides() {
    const std::string_view buffer = is_scatter() ? "rbuf" : "sbuf";
    has_in_place_ = function_.category == "collective" && function_.has(buffer);
    if (has_in_place_) {
      line("const bool in_place = arguments::is_in_place(" + name_of_(function_.position(buffer)) + ");");
      add("kInPlace", "1", "in_place");
    }
    if (function_.category == "collective" && function_.has("comm") &&
        (has_sides() || rule_ == "bcast" || rule_ == "reduce" || function_.has("scounts") ||
         (function_.has("rcounts") && rule_ != "reduce_scatter")))
      line("const auto sides = volumes::sides_of(call.comm);");
    if (has_sides())
      line("const SignificantSides has = significant::" + std::string(is_gather() ? "gather" : "scatter") +
           "(sides, volumes::part_of(sides, call.peer), in_place);");
  }

  // The condition under which the arguments of the side with `prefix` are significant.
  [[nodiscard]] std::string condition_of(std::string_view kind) const {
    const bool sends = kind.starts_with("sc") || kind.starts_with("st") || kind.starts_with("sd");
    const bool receives = kind.starts_with("rc") || kind.starts_with("rt") || kind.starts_with("rd");
    if (has_sides() && (sends || receives)) return sends ? "has.sends" : "has.receives";
    if (sends && has_in_place_) return "!in_place";
    if ((kind == "count" || kind == "type") && (rule_ == "bcast" || rule_ == "reduce"))
      return "volumes::part_of(sides, call.peer) != byte_rules::Part::kBystander";
    if ((kind == "count" || kind == "type") && rule_ == "get_accumulate")
      return "!arguments::is_no_op(" + name_of_(function_.position("op")) + ")";
    return "";
  }

  void write_single(const std::string& kind, const std::string& name) {
    // Whether Fortran passes MPI_COUNT_KIND or INTEGER depends on the routine.
    if (kind == "int" && is_fortran_ && function_.large) return;
    if (kind == "tag") {
      if (!function_.has("dest")) add("kTag", "arguments::value(" + name + ")", "");
      return;
    }
    const auto* const single =
        std::find_if(kSingles.begin(), kSingles.end(), [&](const Single& each) { return each.kind == kind; });
    if (single == kSingles.end()) return;
    add(single->enumerator, "arguments::" + std::string(single->reader) + "(" + name + ")", condition_of(kind));
  }

  void write_array(const std::string& kind, const std::string& name) {
    const bool sends = kind.starts_with("s");
    const std::string side = sends ? "kSend" : "kReceive";
    const bool is_neighbour = function_.category == "neighbourhood";
    const std::string count = is_neighbour ? (sends ? "neighbourhood.destinations()" : "neighbourhood.sources()")
                              : rule_ == "reduce_scatter" ? "volumes::own_group(call.comm).peers"
                                                          : "sides.peers";
    if (kind == "scounts" || kind == "rcounts") {
      add_array("arguments::values(" + name + ")", side + "Counts", count, condition_of(kind));
    } else if (kind == "sdispls" || kind == "rdispls") {
      const bool are_addresses = function_.large || rule_ == "neighbour_alltoallw";
      add_array("static_cast<const " + std::string(are_addresses ? "MPI_Aint" : "int") + "*>(" + name + ")",
                side + "Displacements", count, condition_of(kind));
    } else if (kind == "stypes" || kind == "rtypes") {
      ++added_;
      const std::string condition = condition_of(kind);
      line((condition.empty() ? "" : "if (" + condition + ") ") + "argument_list.add_elements(ArgumentKind::" + side +
           "Types, " + name + ", " + count + ", arguments::type_word_at);");
    }
  }

  const Function& function_;
  const std::string& rule_;
  const NameOf& name_of_;
  const bool is_fortran_;
  bool has_in_place_ = false;
  int added_ = 0;
  std::string text_;
};

}  // namespace

std::string argument_text(const Function& function, const NameOf& name_of, bool is_fortran) {
  if (std::find(kTold.begin(), kTold.end(), function.category) == kTold.end()) return "";
  return ArgumentWriter(function, name_of, is_fortran).write();
}

}  // namespace ardoise::generator
