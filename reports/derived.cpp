// The derived part of profile.json: findings and efficiencies, for other programs. Readers of the model skip it.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "reports/findings/findings.hpp"
#include "reports/json_writer.hpp"
#include "reports/losses/account.hpp"
#include "reports/losses/losses.hpp"

namespace ardoise::reports {

namespace {

double rounded(double share) { return std::round(share * 1e4) / 1e4; }

double six_digits(double v) { return std::strtod(fmt::format("{:.6g}", v).c_str(), nullptr); }

void write_account(JsonWriter& writer, const Application& application) {
  const RunView view(application);
  const Account account = account_of(view, losses_of(view));
  if (account.rows.empty()) return;
  nlohmann::json rows = nlohmann::json::array();
  for (const AccountRow& row : account.rows)
    rows.push_back(
        {{"part", row.part}, {"code", row.code}, {"nanoseconds", row.nanoseconds}, {"inferred", row.inferred}});
  writer.member("account", nlohmann::json{{"nanoseconds", account.nanoseconds}, {"rows", std::move(rows)}});
}

}  // namespace

void derived_members(JsonWriter& writer, const Application& application) {
  nlohmann::json findings = nlohmann::json::array();
  for (const Finding& finding : findings_of(application)) {
    nlohmann::json evidence = nlohmann::json::object();
    for (const auto& [key, number] : finding.evidence) evidence[key] = six_digits(number);
    findings.push_back({{"id", finding.id},
                        {"severity", to_string(finding.severity)},
                        {"text", finding.text},
                        {"advice", finding.advice},
                        {"evidence", std::move(evidence)}});
  }
  writer.member("findings", findings);
  write_account(writer, application);
  const Efficiency e = efficiency_of(application);
  if (!e.known) return;
  nlohmann::json derived;
  derived["mpi_share"] = rounded(e.mpi_share);
  derived["io_share"] = rounded(e.io_share);
  derived["computing_share"] = rounded(e.computing_share);
  derived["waiting_for_processor_share"] = rounded(e.waiting_share);
  derived["blocked_share"] = rounded(e.blocked_share);
  derived["load_balance"] = rounded(e.load_balance);
  derived["communication_efficiency"] = rounded(e.communication);
  derived["parallel_efficiency"] = rounded(e.parallel);
  if (e.parts_known) {
    derived["serialisation_efficiency"] = rounded(e.serialisation);
    derived["transfer_efficiency"] = rounded(e.transfer);
  }
  writer.member("efficiency", derived);
}

}  // namespace ardoise::reports
