#include "proxy/tls/certificate_review.hpp"

#include <gmock/gmock.h>

namespace proxy {
namespace certificate_review_test {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::chrono::sys_seconds kNow{1'800'000'000s};  // 2027-01-15T08:00:00Z

CertificateFacts facts(std::string file, std::vector<std::string> names,
                       std::chrono::seconds left = 24h * 30) {
    CertificateFacts made;
    made.file = std::move(file);
    made.names = std::move(names);
    made.key_type = "EC";
    made.not_before = kNow - 1h;
    made.not_after = kNow + left;
    return made;
}

TlsConfig single_pair() {
    return {{"a", 1}, "/one.pem", "/one.key"};
}
TlsConfig list_of(std::size_t pairs) {
    TlsConfig tls{{"a", 1}};
    tls.certificates.resize(pairs);
    return tls;
}

std::vector<std::string> doubts(const TlsConfig& tls, const std::vector<CertificateFacts>& all) {
    std::vector<std::string> text;
    for (const auto& each : certificate_doubts(tls, all, kNow))
        text.push_back(each.path + ": " + each.message);
    return text;
}

TEST(CertificateReview, WarnsTwoWeeksBeforeTheEnd) {
    EXPECT_THAT(doubts(single_pair(), {facts("/one.pem", {"a.test"}, 24h * 14)}), IsEmpty());
    EXPECT_THAT(doubts(single_pair(), {facts("/one.pem", {"a.test"}, 24h * 14 - 1s)}),
                ElementsAre("$.tls.certificate: /one.pem expires in 13 days, on "
                            "2027-01-29T07:59:59Z"));
    EXPECT_THAT(
        doubts(single_pair(), {facts("/one.pem", {"a.test"}, 1h)}),
        ElementsAre("$.tls.certificate: /one.pem expires in 1 hour, on 2027-01-15T09:00:00Z"));
}

TEST(CertificateReview, WarnsOfCertificatesThatClientsRefuse) {
    EXPECT_THAT(doubts(single_pair(), {facts("/one.pem", {"a.test"}, 0s)}),
                ElementsAre("$.tls.certificate: /one.pem expired 0 hours ago, on "
                            "2027-01-15T08:00:00Z"));
    EXPECT_THAT(doubts(single_pair(), {facts("/one.pem", {"a.test"}, -24h * 3)}),
                ElementsAre("$.tls.certificate: /one.pem expired 3 days ago, on "
                            "2027-01-12T08:00:00Z"));
    auto early = facts("/one.pem", {"a.test"});
    early.not_before = kNow + 1s;
    EXPECT_THAT(
        doubts(single_pair(), {early}),
        ElementsAre("$.tls.certificate: /one.pem is not valid before 2027-01-15T08:00:01Z"));
}

TEST(CertificateReview, NamesCertificatesWithoutASubjectAltName) {
    auto old = facts("/one.pem", {});
    old.has_san = false;
    EXPECT_THAT(doubts(single_pair(), {old}),
                ElementsAre(testing::StartsWith("$.tls.certificate: /one.pem has no name in "
                                                "subjectAltName, so clients refuse it")));
    EXPECT_THAT(doubts(single_pair(), {facts("/one.pem", {})}), IsEmpty()) << "it has an address";
}

TEST(CertificateReview, TakesACertificateWithoutAnEnd) {  // RFC 5280 §4.1.2.5
    auto endless = facts("/one.pem", {"a.test"});
    endless.not_after = std::chrono::sys_seconds(253'402'300'799s);
    EXPECT_THAT(doubts(single_pair(), {endless}), IsEmpty());
    EXPECT_EQ(rfc3339(endless.not_after), "9999-12-31T23:59:59Z");
}

TEST(CertificateReview, NamesPairsThatNoClientGets) {
    EXPECT_THAT(
        doubts(list_of(4), {facts("/0.pem", {}), facts("/1.pem", {"a.test", "b.test"}),
                            facts("/2.pem", {"b.test"}), facts("/3.pem", {})}),
        ElementsAre("$.tls.certificates[2]: is never used: pairs before it have all names of "
                    "/2.pem and the same type of key, EC",
                    "$.tls.certificates[3]: is never used: /3.pem has no DNS name in "
                    "subjectAltName, and only the first pair is for clients without a name"));
    auto beside = single_pair();
    beside.certificates.resize(1);
    EXPECT_THAT(doubts(beside, {facts("/one.pem", {"a.test"}), facts("/2.pem", {"b.test"}, 1h)}),
                ElementsAre("$.tls.certificates[0].certificate: /2.pem expires in 1 hour, on "
                            "2027-01-15T09:00:00Z"));
}

}  // namespace certificate_review_test
}  // namespace proxy
