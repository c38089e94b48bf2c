#include "proxy/node/status_reports.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace proxy {
namespace status_reports_test {

using namespace std::chrono_literals;

const PeerRecord::Time kNow = PeerRecord::Time(1000h);

PeerReport failed(std::string_view reason, PeerRecord::Time at) {
    PeerReport report;
    report.last_failure = {reason, at};
    return report;
}

PeerReport recognised(PeerRecord::Time at) {
    PeerReport report;
    report.recognised_at = at;
    return report;
}

TEST(PeerReport, ALaterResponseToAnyWorkerRefutesNotAPeer) {
    auto report = failed(kNotAPeer, kNow);
    EXPECT_EQ(report.shown_failure().reason, kNotAPeer);
    report += recognised(kNow - 1s);
    EXPECT_EQ(report.shown_failure().reason, kNotAPeer) << "the response came before";
    report += recognised(kNow + 1s);
    EXPECT_EQ(report.shown_failure().reason, "");
}

TEST(PeerReport, AResponseRefutesNoOtherFailure) {
    auto report = recognised(kNow + 1s);
    report += failed("connect_failed", kNow);
    EXPECT_EQ(report.shown_failure().reason, "connect_failed");
    EXPECT_EQ(report.shown_failure().at, kNow);
}

TEST(OriginReports, NameNoTargetThatAClientChose) {  // the status answers everybody
    const OriginReports origins{
        {"a.example:80!", {}}, {"site.example:443/tls1", {}}, {"b.example:443!/tls2", {}}};
    std::vector<std::string> places;
    for (const auto& origin : show_origins(origins, {})) places.push_back(origin.place);
    EXPECT_EQ(places, (std::vector<std::string>{"forward", "site.example:443"}));
}

}  // namespace status_reports_test
}  // namespace proxy
