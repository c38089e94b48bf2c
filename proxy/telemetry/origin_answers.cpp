#include "proxy/telemetry/origin_answers.hpp"

#include "proxy/telemetry/bounded_names.hpp"

namespace proxy {
namespace {

constexpr std::uint64_t kFewAnswers = 20;    // of fewer, a share says little
constexpr std::uint64_t kFailingShare = 10;  // one in so many
constexpr unsigned kTooManyRequests = 429, kFirstServerError = 500;

}  // namespace

OriginAnswerCounts& OriginAnswerCounts::operator+=(const OriginAnswerCounts& other) {
    answers += other.answers;
    server_errors += other.server_errors;
    too_many += other.too_many;
    return *this;
}

bool is_failing(const OriginAnswerCounts& recent) {
    return recent.answers >= kFewAnswers &&
           (recent.server_errors + recent.too_many) * kFailingShare > recent.answers;
}

SiteAnswers& SiteAnswers::operator+=(const SiteAnswers& other) {
    if (place.empty()) place = other.place;
    total += other.total;
    recent += other.recent;
    return *this;
}

void add_answers(AnswersBySite& to, const std::string& site, const SiteAnswers& answers) {
    entry_within(to, site, OriginAnswers::kMaxSites, OriginAnswers::kOthers) += answers;
}

OriginAnswers::Minute OriginAnswers::minute_of(Time time) {
    return std::chrono::duration_cast<std::chrono::minutes>(time.time_since_epoch()).count();
}

void OriginAnswers::note(std::string_view site, std::string_view host, std::uint16_t port,
                         unsigned status, Time now) {
    if (site.empty()) {
        site = kForwardTargets;
        host = {};
        port = 0;
    }
    auto& counted = entry_within(sites_, site, kMaxSites, kOthers);
    if (counted.port != port || counted.host != host) {
        counted.host = host;
        counted.port = port;
    }
    const auto minute = minute_of(now);
    auto& slot = counted.slots[static_cast<std::size_t>(minute) % kMinutes];
    if (slot.minute != minute) slot = {minute, {}};
    const OriginAnswerCounts one{1, status >= kFirstServerError ? 1u : 0u,
                                 status == kTooManyRequests ? 1u : 0u};
    counted.total += one;
    slot.counts += one;
}

AnswersBySite OriginAnswers::by_site(Time now) const {
    const auto minute = minute_of(now);
    AnswersBySite all;
    for (const auto& [site, counted] : sites_) {
        auto& answers = all[site];
        answers.place = counted.host.empty() ? kForwardTargets
                                             : counted.host + ":" + std::to_string(counted.port);
        answers.total = counted.total;
        for (const auto& slot : counted.slots)
            if (slot.minute >= 0 && minute - slot.minute < static_cast<Minute>(kMinutes))
                answers.recent += slot.counts;
    }
    return all;
}

}  // namespace proxy
