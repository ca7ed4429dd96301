#include "vmpi/generator/call_control.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace ardoise::generator {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array kRules = {"receive"sv,
                               "post_receive"sv,
                               "receive_init"sv,
                               "probe"sv,
                               "send_receive"sv,
                               "send_receive_replace"sv,
                               "post_send_receive"sv,
                               "post_send_receive_replace"sv,
                               "start"sv,
                               "touches_request"sv,
                               "free_request"sv,
                               "wait"sv,
                               "test"sv,
                               "wait_all"sv,
                               "test_all"sv,
                               "wait_any"sv,
                               "test_any"sv,
                               "wait_some"sv};

}  // namespace

bool is_controllable(const Function& function) {
  // MPI_Request_get_status tests a request without completing it.
  if (function.has("request_in") && function.has("flag") && function.has("status")) return true;
  return std::find(kRules.begin(), kRules.end(), function.rule) != kRules.end();
}

CallControlText call_control_text(const Function& function, const NameOf& name_of) {
  CallControlText text;
  const auto name = [&](std::string_view kind) { return name_of(function.position(kind)); };
  const auto before = [&](const std::string& line) { text.before += "  " + line + "\n"; };
  const auto after = [&](const std::string& line) { text.after += "  " + line + "\n"; };
  before("CallOverride changes;");
  if (function.rule == "receive_init") {
    before("arguments::note_buffer(changes, " + name("buf") + ", " + name("type") + ");");
    before("changes.count = arguments::value(" + name("count") + ");");
  }
  if (function.has("request_in")) {
    before("arguments::RequestsBefore looked_at(arguments::address_of(" + name("request_in") + "), 1);");
    before("call.requests = looked_at.data();");
    before("call.request_count = 1;");
  }
  before("watching->control->before(call, changes);");
  if (function.has("source")) {
    const bool posts = function.has("request_out");
    before("if (changes.pins) {");
    before("  arguments::pin(" + name("source") + ", changes.source);");
    before("  arguments::pin(" + name(function.has("rtag") ? "rtag" : "tag") + ", changes.tag);");
    if (posts) before("  if (changes.comm != MPI_COMM_NULL) arguments::pin_comm(" + name("comm") + ", changes);");
    before("}");
  }
  std::string requests;
  if (function.has("requests")) {
    requests = name("requests");
    before("arguments::PassedRequests passed_requests(" + requests + ", call.request_count, changes);");
  } else if (function.has("request")) {
    requests = name("request");
    before("arguments::PassedRequests passed_requests(" + requests + ", 1, changes);");
  }
  if (!requests.empty()) {
    before(requests + " = passed_requests.pass();");
    after("passed_requests.give_back();");
  } else if (function.has("request_in")) {
    requests = name("request_in");
    before("arguments::PassedRequests passed_requests(arguments::address_of(" + requests + "), 1, changes);");
    before("arguments::take_request(" + requests + ", passed_requests.pass());");
    after("call.requests = nullptr;");  // as in observation.cpp
    after("call.request_count = 0;");
  }
  if (function.has("flag")) {
    const std::string is_true = "arguments::is_true(" + name("flag") + ")";
    text.condition = "!" + is_true;
    text.skipped += "    arguments::set_false(" + name("flag") + ");\n";
    after("changes.flag = code == MPI_SUCCESS && " + is_true + ";");
  }
  if (function.has("index")) {
    text.skipped += "    *" + name("index") + " = MPI_UNDEFINED;\n";
    after("changes.none_active = code == MPI_SUCCESS && *" + name("index") + " == MPI_UNDEFINED;");
  }
  if (function.has("out_count")) {
    text.skipped += "    *" + name("out_count") + " = 0;\n";
    after("changes.none_active = code == MPI_SUCCESS && *" + name("out_count") + " == MPI_UNDEFINED;");
  }
  return text;
}

}  // namespace ardoise::generator
