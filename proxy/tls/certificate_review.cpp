#include "proxy/tls/certificate_review.hpp"

#include <utility>

#include "base/text/amount.hpp"
#include "proxy/config/config_certificates.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/tls/certificate_choice.hpp"
#include "proxy/tls/tls_contexts.hpp"

namespace proxy {
namespace {

/// `3 days`, rounded down; hours below two days.
std::string span_text(std::chrono::seconds span) {
    using namespace std::chrono;
    constexpr days kInHoursBelow{2};
    const auto amount = [](auto whole, const char* unit) {
        return base::amount(static_cast<std::uint64_t>(whole.count()), unit);
    };
    if (span < kInHoursBelow) return amount(duration_cast<hours>(span), "hour");
    return amount(duration_cast<days>(span), "day");
}

/// Empty if the time of the certificate is right.
std::string time_doubt(const CertificateFacts& facts, WallTime now) {
    if (now < facts.not_before)
        return facts.file + " is not valid before " + rfc3339(facts.not_before);
    if (facts.not_after <= now)
        return facts.file + " expired " + span_text(now - facts.not_after) + " ago, on " +
               rfc3339(facts.not_after);
    if (facts.not_after - now < kExpiresSoon)
        return facts.file + " expires in " + span_text(facts.not_after - now) + ", on " +
               rfc3339(facts.not_after);
    return {};
}

}  // namespace

std::vector<ConfigError> certificate_doubts(const TlsConfig& tls,
                                            std::span<const CertificateFacts> all, WallTime now) {
    std::vector<ConfigError> found;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (auto doubt = time_doubt(all[i], now); !doubt.empty())
            found.push_back({certificate_setting(tls, i) + ".certificate", std::move(doubt)});
    for (std::size_t i = 0; i < all.size(); ++i)
        if (!all[i].has_san)
            found.push_back({certificate_setting(tls, i) + ".certificate",
                             all[i].file +
                                 " has no name in subjectAltName, so clients refuse it: they do "
                                 "not look at the common name (CN). Have one made with "
                                 "subjectAltName=DNS:HOST"});
    if (all.empty()) return found;
    const std::vector<CertificateIdentity> identities(all.begin(), all.end());
    for (const auto i : CertificateChoice(identities).unused())
        found.push_back(
            {certificate_setting(tls, i),
             all[i].names.empty()
                 ? "is never used: " + all[i].file +
                       " has no DNS name in subjectAltName, and only the first pair is for clients "
                       "without a name"
                 : "is never used: pairs before it have all names of " + all[i].file +
                       " and the same type of key, " + all[i].key_type});
    return found;
}

std::vector<ConfigError> certificate_doubts(const Config& config, const TlsContexts& contexts) {
    std::vector<ConfigError> found;
    if (config.tls) {
        std::vector<CertificateFacts> all;
        for (const auto& each : contexts.certificates) all.push_back(each->facts);
        found = certificate_doubts(*config.tls, all, wall_now());
    }
    if (const auto& interception = contexts.interception)
        for (auto& each : authority_doubts(*interception->authority, wall_now()))
            found.push_back(std::move(each));
    return found;
}

}  // namespace proxy
