#include "proxy/telemetry/origin_answers.hpp"

#include <algorithm>
#include <utility>

#include "base/text/amount.hpp"
#include "base/text/lasting.hpp"
#include "proxy/telemetry/bounded_names.hpp"

namespace proxy {
namespace {

constexpr std::uint64_t kFewAnswers = 20;    // of fewer, a share says little
constexpr std::uint64_t kFailingShare = 10;  // one in so many
constexpr unsigned kTooManyRequests = 429, kFirstServerError = 500;

std::string age_words(std::chrono::nanoseconds age) {
    return base::lasting(std::chrono::duration<double>(age).count());
}

std::string reason_text(const OriginOutage& outage) {
    static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
        {"resolve_failed", "its name has no address"},
        {"resolve_timeout", "no name server answers"},
        {"connect_failed", "it refuses connections or is unreachable"},
        {"connect_timeout", "it does not take connections in time"},
        {"tls_failed", "no TLS connection can be made"},
        {"head_timeout", "it does not answer in time"},
        {"reset", "it closes connections without an answer"},
        {"malformed", "it does not answer in HTTP"},
        {"parent_refused", "the parent proxy opens no tunnel to it"},
        {"parent_denied", "the parent proxy does not allow a tunnel to it"},
        {"parent_tls_failed", "no TLS connection to the parent proxy can be made"},
    };
    if (outage.reason.empty()) return "it answers " + std::to_string(outage.status);
    for (const auto& [reason, words] : kWords)
        if (reason == outage.reason) return std::string(words);
    return std::string(outage.reason);
}

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

void OriginOutage::note(OriginEnd how, std::string_view why, unsigned code, Time now) {
    if (how == OriginEnd::answered) {
        *this = {};
        answered_at = now;
        return;
    }
    if (requests++ == 0) since = now;
    since = std::min(since, now);
    last = std::max(last, now);
    end = how;
    reason = why;
    status = code;
}

OriginOutage& OriginOutage::operator+=(const OriginOutage& other) {
    auto theirs = other;
    const auto answered = std::max(answered_at, theirs.answered_at);
    for (auto* each : {this, &theirs}) {
        if (each->requests > 0 && each->last <= answered) *each = {};
        if (each->requests > 0) each->since = std::max(each->since, answered);
    }
    if (theirs.requests > 0 && (requests == 0 || theirs.last > last)) {
        last = theirs.last;
        end = theirs.end;
        reason = theirs.reason;
        status = theirs.status;
    }
    if (theirs.requests > 0) since = requests == 0 ? theirs.since : std::min(since, theirs.since);
    requests += theirs.requests;
    stale_served += theirs.stale_served;
    errors_served += theirs.errors_served;
    answered_at = answered;
    return *this;
}

std::string fault_text(const std::string& site, const SiteAnswers& answers,
                       OriginOutage::Time now) {
    const auto& outage = answers.outage;
    if (outage.state() == OriginEnd::answered) return {};
    const auto verb = outage.end == OriginEnd::unanswered ? " has not answered for "
                                                          : " has answered with errors for ";
    const auto age = now - outage.last;
    return "the origin " + answers.place + " of " + site + verb + age_words(now - outage.since) +
           " (" + base::amount(outage.requests, "request") +
           (age >= std::chrono::minutes(1) ? ", the last one " + age_words(age) + " ago" : "") +
           "): " + reason_text(outage) + "; meanwhile clients got " +
           base::amount(outage.stale_served, "stale copy", "stale copies") +
           (outage.end == OriginEnd::unanswered
                ? " and " + base::amount(outage.errors_served, "error") + " (502 or 504)"
                : ", and otherwise its errors");
}

SiteAnswers& SiteAnswers::operator+=(const SiteAnswers& other) {
    if (place.empty()) place = other.place;
    total += other.total;
    recent += other.recent;
    outage += other.outage;
    return *this;
}

void add_answers(AnswersBySite& to, const std::string& site, const SiteAnswers& answers) {
    entry_within(to, site, OriginAnswers::kMaxSites, OriginAnswers::kOthers) += answers;
}

OriginAnswers::Open::Open(OriginAnswers& answers, std::string_view site, std::string_view host,
                          std::uint16_t port, Time began)
    : of_site_(site.empty() ? nullptr : &answers.counted_at(site, host, port)), began_(began) {
    if (of_site_) of_site_->open.push_back(began_);
}

OriginAnswers::Open::~Open() {
    if (!of_site_) return;
    constexpr int kLessEach = 16;  // one quick answer less the memory of a slow one
    auto& site = *of_site_;
    site.open.erase(std::ranges::find(site.open, began_));
    const auto took = site.outage.answered_at - began_;
    if (took > Time::duration(0))
        site.slowest = std::max(took, site.slowest - site.slowest / kLessEach);
}

OriginAnswers::Minute OriginAnswers::minute_of(Time time) {
    return std::chrono::duration_cast<std::chrono::minutes>(time.time_since_epoch()).count();
}

OriginAnswers::SiteAnswerCount& OriginAnswers::counted_at(std::string_view site,
                                                          std::string_view host,
                                                          std::uint16_t port) {
    auto& counted = entry_within(sites_, site, kMaxSites, kOthers);
    if (counted.port != port || counted.host != host) {
        counted.host = host;
        counted.port = port;
    }
    return counted;
}

void OriginAnswers::note(std::string_view site, std::string_view host, std::uint16_t port,
                         unsigned status, Time now) {
    if (site.empty()) return count(counted_at(kForwardTargets, {}, 0), status, now);
    auto& counted = counted_at(site, host, port);
    const auto is_error = status >= kFirstServerError;
    counted.outage.note(is_error ? OriginEnd::server_error : OriginEnd::answered, {}, status, now);
    count(counted, status, now);
}

void OriginAnswers::note_replaced(std::string_view site, std::string_view host, std::uint16_t port,
                                  unsigned status, Time now) {
    count(site.empty() ? counted_at(kForwardTargets, {}, 0) : counted_at(site, host, port), status,
          now);
}

void OriginAnswers::count(SiteAnswerCount& counted, unsigned status, Time now) {
    const auto is_error = status >= kFirstServerError;
    const auto minute = minute_of(now);
    auto& slot = counted.slots[static_cast<std::size_t>(minute) % kMinutes];
    if (slot.minute != minute) slot = {minute, {}};
    const OriginAnswerCounts one{1, is_error ? 1u : 0u, status == kTooManyRequests ? 1u : 0u};
    counted.total += one;
    slot.counts += one;
}

void OriginAnswers::note_failure(std::string_view site, std::string_view host, std::uint16_t port,
                                 std::string_view reason, Time now) {
    if (site.empty()) return;
    counted_at(site, host, port).outage.note(OriginEnd::unanswered, reason, 0, now);
}

void OriginAnswers::stood_in(std::string_view site, bool is_stale) {
    const auto found = sites_.find(site);
    if (found == sites_.end() || found->second.outage.requests == 0) return;
    auto& outage = found->second.outage;
    ++(is_stale ? outage.stale_served : outage.errors_served);
}

/// The outage with the open requests that have been waiting for long.
OriginOutage OriginAnswers::outage_of(const SiteAnswerCount& counted, Time now) const {
    auto outage = counted.outage;
    const auto spoke =
        outage.end == OriginEnd::server_error ? outage.last : counted.outage.answered_at;
    const auto silence = std::max<Time::duration>(silence_, 2 * counted.slowest);
    for (const auto began : counted.open)
        if (began > spoke && now - began >= silence)
            outage.note(OriginEnd::unanswered, "head_timeout", 0, began);
    return outage;
}

AnswersBySite OriginAnswers::by_site(Time now) const {
    const auto minute = minute_of(now);
    AnswersBySite all;
    for (const auto& [site, counted] : sites_) {
        auto& answers = all[site];
        answers.place = counted.host.empty() ? kForwardTargets
                                             : counted.host + ":" + std::to_string(counted.port);
        answers.total = counted.total;
        answers.outage = outage_of(counted, now);
        for (const auto& slot : counted.slots)
            if (slot.minute >= 0 && minute - slot.minute < static_cast<Minute>(kMinutes))
                answers.recent += slot.counts;
    }
    return all;
}

}  // namespace proxy
