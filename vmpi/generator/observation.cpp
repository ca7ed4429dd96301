// Parameter kinds locate the arguments; the byte rule names the function of volumes.hpp that counts.
#include "vmpi/generator/observation.hpp"

namespace ardoise::generator {
namespace {

class Writer {
 public:
  Writer(const Function& function, const NameOf& name_of, const NameOf& length_of)
      : function_(function), rule_(function.rule), name_of_(name_of), length_of_(length_of) {}

  Observation write() {
    write_objects();
    write_window();
    write_peers();
    write_status();
    write_bytes();
    write_requests();
    return {before_, after_};
  }

 private:
  [[nodiscard]] bool has(std::string_view kind) const { return function_.has(kind); }
  [[nodiscard]] std::string name(std::string_view kind) const { return name_of_(function_.position(kind)); }
  [[nodiscard]] std::string value(std::string_view kind) const { return "arguments::value(" + name(kind) + ")"; }
  [[nodiscard]] std::string values(std::string_view kind) const { return "arguments::values(" + name(kind) + ")"; }
  [[nodiscard]] std::string type(std::string_view kind) const { return "arguments::type(" + name(kind) + ")"; }
  [[nodiscard]] std::string types(std::string_view kind) const { return "arguments::types(" + name(kind) + ")"; }
  void before(const std::string& line) { before_ += "  " + line + "\n"; }
  void after(const std::string& line) { after_ += "  " + line + "\n"; }
  [[nodiscard]] bool rule_starts_with(std::string_view prefix) const { return rule_.starts_with(prefix); }

  void write_objects() {
    for (std::size_t i = 0; i < function_.kinds.size(); ++i) {
      if (function_.kinds[i] == "comm") {  // the first one, where there are two
        before("call.comm = arguments::comm_of(" + name_of_(static_cast<int>(i)) + ");");
        break;
      }
    }
    if (has("comm_inout")) before("call.comm = arguments::made_comm(" + name("comm_inout") + ");");
    if (has("win")) before("call.window = arguments::win_of(" + name("win") + ");");
    if (has("win_inout")) before("call.window = arguments::made_win(" + name("win_inout") + ");");
    if (has("file")) before("call.file = arguments::file_of(" + name("file") + ");");
    if (has("file_inout")) before("call.file = arguments::made_file(" + name("file_inout") + ");");
    if (has("file_name")) {
      const auto length = length_of_(function_.position("file_name"));
      before("const arguments::Text text{" + name("file_name") + (length.empty() ? "" : ", " + length) + "};");
      before("call.file_name = text.c_str();");
    }
    if (has("comm_out"))
      after("if (code == MPI_SUCCESS) call.new_comm = arguments::made_comm(" + name("comm_out") + ");");
    if (has("win_out")) after("if (code == MPI_SUCCESS) call.window = arguments::made_win(" + name("win_out") + ");");
    if (has("file_out")) after("if (code == MPI_SUCCESS) call.file = arguments::made_file(" + name("file_out") + ");");
  }

  void write_window() {
    if (rule_ != "window") return;
    if (has("group")) before("call.group = arguments::group_of(" + name("group") + ");");
    if (has("lock_type")) before("call.tag = " + value("lock_type") + ";");
    if (has("flag"))
      after("call.completed_count = code == MPI_SUCCESS && arguments::is_true(" + name("flag") + ") ? 1 : 0;");
  }

  void write_peers() {
    for (const char* kind : {"dest", "target", "root"}) {
      if (has(kind)) before("call.peer = " + value(kind) + ";");
    }
    if (has("source")) before((has("dest") ? "call.source = " : "call.peer = ") + value("source") + ";");
    if (has("tag")) before("call.tag = " + value("tag") + ";");
    if (has("stag")) before("call.tag = " + value("stag") + ";");
    if (has("rtag")) before("call.receive_tag = " + value("rtag") + ";");
    if (has("code")) before("call.tag = " + value("code") + ";");
  }

  void write_status() {
    if (!has("status") || rule_ == "-") return;
    before("auto status_argument = arguments::StatusArgument(" + name("status") + ");");
  }

  void received_of_status() {
    after("call.statuses = status_argument.read();");
    after("if (code == MPI_SUCCESS) call.bytes_received = received_bytes(*call.statuses);");
  }

  void transfer(const std::string& field, std::string_view count, std::string_view type_kind, std::string_view peer) {
    before("call." + field + " = volumes::transfer(" + value(count) + ", " + type(type_kind) + ", " +
           (peer.empty() ? "0" : value(peer)) + ");");
  }

  void volume(const std::string& method, const std::string& arguments) {
    before("const Volume volume = volumes::" + method + "(" + arguments + ");");
    before("call.bytes_sent = volume.sent;");
    before("call.bytes_received = volume.received;");
  }

  void write_bytes() {
    if (rule_starts_with("partitioned_")) {
      const bool sends = has("dest");
      before("call." + std::string(sends ? "bytes_sent" : "bytes_received") + " = volumes::transfer(" +
             value("partitions") + " * " + value("large_count") + ", " + type("type") + ", call.peer);");
    } else if (rule_ == "send" || rule_ == "send_init") {
      transfer("bytes_sent", "count", "type", "dest");
    } else if (rule_ == "receive" || rule_ == "post_receive" || rule_ == "receive_init") {
      transfer("bytes_received", "count", "type", "source");
      if (rule_ == "receive") received_of_status();
    } else if (rule_ == "matched_receive" || rule_ == "post_matched_receive") {
      before("call.message = arguments::made_message(" + name("message_inout") + ");");
      transfer("bytes_received", "count", "type", "");
      if (rule_ == "matched_receive") received_of_status();
    } else if (rule_ == "probe") {
      after("call.statuses = status_argument.read();");
      const std::string found = has("flag") ? " && arguments::is_true(" + name("flag") + ")" : "";
      after("call.completed_count = code == MPI_SUCCESS" + found + " ? 1 : 0;");
      after("if (call.completed_count == 1) call.bytes_received = received_bytes(*call.statuses);");
      if (has("message_inout"))
        after("if (call.completed_count == 1) call.message = arguments::made_message(" + name("message_inout") + ");");
    } else if (rule_ == "send_receive" || rule_ == "post_send_receive") {
      transfer("bytes_sent", "scount", "stype", "dest");
      transfer("bytes_received", "rcount", "rtype", "source");
      if (rule_ == "send_receive") received_of_status();
    } else if (rule_ == "send_receive_replace" || rule_ == "post_send_receive_replace") {
      transfer("bytes_sent", "count", "type", "dest");
      transfer("bytes_received", "count", "type", "source");
      if (rule_ == "send_receive_replace") received_of_status();
    } else if (rule_starts_with("neighbour_")) {
      before("Neighbourhood neighbourhood(call.comm);");
      before("neighbourhood.exchange(call, " + both_sides() + ");");
    } else if (function_.category == "collective") {
      write_collective();
    } else if (function_.category == "one-sided") {
      write_one_sided();
    } else if (rule_starts_with("file_") || rule_starts_with("begin_file_") || rule_starts_with("post_file_")) {
      write_file_access();
    }
  }

  void write_collective() {
    const std::string comm = "call.comm, ";
    if (rule_ == "bcast" || rule_ == "reduce")
      volume(rule_, comm + value("count") + ", " + type("type") + ", call.peer");
    if (rule_ == "allreduce" || rule_ == "scan") volume(rule_, value("count") + ", " + type("type"));
    if (rule_ == "exscan") volume(rule_, comm + value("count") + ", " + type("type"));
    if (rule_.starts_with("reduce_scatter")) volume("reduce_scatter", comm + counts("rcount") + ", " + type("type"));
    const bool sends_parts = rule_.starts_with("scatter"), is_known = sends_parts || rule_.starts_with("gather") ||
                                                                      rule_.starts_with("allgather") ||
                                                                      rule_.starts_with("alltoall");
    if (!is_known) return;
    const auto method = rule_.ends_with("v") || rule_.ends_with("w") ? rule_.substr(0, rule_.size() - 1) : rule_;
    volume(method, comm + "arguments::is_in_place(" + name(sends_parts ? "rbuf" : "sbuf") + "), " + both_sides() +
                       (has("root") ? ", call.peer" : ""));
  }

  [[nodiscard]] std::string counts(const std::string& one) const {
    return has(one + "s") ? values(one + "s") : "[&] { return " + value(one) + "; }";
  }
  // Counts and types of the sent and the received data, as volumes.hpp takes them.
  [[nodiscard]] std::string both_sides() const {
    const auto all_types = [this](const std::string& side) { return has(side + "s") ? types(side + "s") : type(side); };
    return counts("scount") + ", " + all_types("stype") + ", " + counts("rcount") + ", " + all_types("rtype");
  }

  void write_one_sided() {
    if (rule_ == "put") transfer("bytes_sent", "count", "type", "target");
    if (rule_ == "get") transfer("bytes_received", "count", "type", "target");
    const std::string sends = has("op") ? "if (!arguments::is_no_op(" + name("op") + ")) " : "";
    if (rule_ == "get_accumulate") {
      before(sends + "call.bytes_sent = volumes::transfer(" + value("count") + ", " + type("type") + ", call.peer);");
      transfer("bytes_received", "rcount", "rtype", "target");
    }
    if (rule_ == "fetch_and_op" || rule_ == "compare_and_swap") {
      before("call.bytes_received = volumes::transfer(1, " + type("type") + ", call.peer);");
      before(sends + "call.bytes_sent = call.bytes_received;");
    }
  }

  void write_file_access() {
    const std::string field = rule_.ends_with("read") ? "bytes_received" : "bytes_sent";
    if (rule_starts_with("begin_")) return;  // counted at the end
    if (!rule_starts_with("file_")) {
      transfer(field, "count", "type", "");
      return;
    }
    if (has("count")) transfer(field, "count", "type", "");
    after("call.statuses = status_argument.read();");
    after("if (code == MPI_SUCCESS) call." + field + " = received_bytes(*call.statuses);");
  }

  void write_requests() {
    if (has("request_out")) {
      before("arguments::StartedRequest started{" + name("request_out") + "};");
      after("if (code == MPI_SUCCESS) {");
      after("  call.requests = started.read();");
      after("  call.request_count = 1;");
      after("}");
      return;
    }
    if (has("request") && rule_ != "-") {
      before("arguments::RequestsBefore requests(" + name("request") + ", 1);");
    } else if (has("requests")) {
      before("arguments::RequestsBefore requests(" + name("requests") + ", " + value("request_count") + ");");
    } else {
      return;
    }
    before("call.requests = requests.data();");
    before("call.request_count = requests.size();");
    write_completion();
  }

  void completed(const std::string& count) { after("call.completed_count = " + count + ";"); }

  void write_completion() {
    if (has("statuses"))
      before("arguments::StatusesArgument status_argument(" + name("statuses") + ", " + value("request_count") + ");");
    const std::string done = "code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS";
    if (rule_ == "free_request") completed("code == MPI_SUCCESS ? 1 : 0");
    if (rule_ == "wait") completed("1");
    if (rule_ == "test") completed("code != MPI_SUCCESS || arguments::is_true(" + name("flag") + ") ? 1 : 0");
    if (rule_ == "wait_all") completed(done + " ? call.request_count : 0");
    if (rule_ == "test_all")
      completed("(" + done + ") && arguments::is_true(" + name("flag") + ") ? call.request_count : 0");
    if (rule_ == "wait_any" || rule_ == "test_any") {
      after("const int index_after = arguments::index_after(" + name("index") + ");");
      after("call.completed_indices = &index_after;");
      const std::string flag = has("flag") ? "arguments::is_true(" + name("flag") + ") && " : "";
      completed(flag + "index_after >= 0 && index_after < call.request_count ? 1 : 0");
    }
    if (rule_ == "wait_some") {
      completed("(" + done + ") && " + "*" + name("out_count") + " > 0 ? *" + name("out_count") + " : 0");
      after("arguments::IndicesAfter indices_after;");
      after("call.completed_indices = indices_after.read(" + name("indices") + ", call.completed_count);");
    }
    if (has("status")) after("if (call.completed_count != 0) call.statuses = status_argument.read();");
    if (has("statuses")) after("call.statuses = status_argument.read(call.completed_count);");
  }

  const Function& function_;
  const std::string& rule_;
  const NameOf& name_of_;
  const NameOf& length_of_;
  std::string before_;
  std::string after_;
};

}  // namespace

Observation observe(const Function& function, const NameOf& name_of, const NameOf& length_of) {
  return Writer(function, name_of, length_of).write();
}

std::string passed_argument(const Function& function, const NameOf& name_of, int i) {
  const auto& kind = function.kinds[static_cast<std::size_t>(i)];
  const bool private_status = (kind == "status" && function.rule != "-") || kind == "statuses";
  return private_status ? "status_argument.pass()" : name_of(i);
}

std::string unobserved(const Function& function) {
  const std::string nobody = "watching == nullptr";
  return function.query ? nobody + " || watching->only_counts(FunctionId::" + function.enumerator() + ", caller)"
                        : nobody;
}

}  // namespace ardoise::generator
