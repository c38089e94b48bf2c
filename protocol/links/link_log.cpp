#include "protocol/links/link_log.hpp"

#include <spdlog/spdlog.h>

#include "base/text/amount.hpp"
#include "protocol/wire/error.hpp"

namespace protocol {
namespace {

/// Reasons of ordinary operation.
bool is_ordinary(const boost::system::error_code& error) {
    return error == Error::goodbye || error == Error::superseded || error == Error::restarted ||
           error == Error::no_peer_any_more || error == Error::reached_elsewhere ||
           error == Error::replaced;
}

}  // namespace

void LinkLog::ended(std::string_view link, const boost::system::error_code& error,
                    std::string_view detail, TimePoint now, Expectation expected) {
    note(link, "ended", error, detail, now, expected);
}

void LinkLog::failed(std::string_view link, const boost::system::error_code& error,
                     std::string_view detail, TimePoint now, Expectation expected) {
    note(link, "could not be made", error, detail, now, expected);
}

void LinkLog::left_unproven(std::string_view link, std::string_view who,
                            const boost::system::error_code& error, TimePoint now) {
    note(link, fmt::format("ended before its proof, as `hearsay check --peers` at {} does", who),
         error, "", now, Expectation::usual);
}

void LinkLog::note(std::string_view link, std::string_view what,
                   const boost::system::error_code& error, std::string_view detail, TimePoint now,
                   Expectation expected) {
    const auto reason = reason_of(error);
    ++counts_[reason];
    const auto subject = std::string(link) + ' ' + reason;
    if (subjects_.size() >= kMaxLogSubjects && !subjects_.contains(subject)) {
        std::erase_if(subjects_, [&](const auto& known) {
            return now - known.second.logged_at >= kLogAgainAfter;
        });
        if (subjects_.size() >= kMaxLogSubjects) return;
    }
    const auto [entry, is_new] = subjects_.try_emplace(subject);
    auto& state = entry->second;
    const bool lasts = expected != Expectation::none;
    if (!is_new && (now - state.logged_at < kLogAgainAfter || (lasts && state.was_expected))) {
        ++state.kept_back;
        return;
    }
    const auto repeated =
        state.kept_back == 0 ? "" : fmt::format(" ({} more were not logged)", state.kept_back);
    state = {now, 0, lasts};
    const bool is_trouble = expected == Expectation::none && !is_ordinary(error);
    const auto level = is_trouble ? spdlog::level::warn : spdlog::level::info;
    spdlog::log(level, "{}: {} {}: {} [{}]{}{}{}", node_, link, what, error.message(), reason,
                detail.empty() ? "" : ": ", detail, repeated);
}

void LinkLog::up(std::string_view link) {
    spdlog::info("{}: {} is up", node_, link);
    const auto prefix = std::string(link) + ' ';
    for (auto each = subjects_.lower_bound(prefix);
         each != subjects_.end() && each->first.starts_with(prefix); ++each)
        each->second.was_expected = false;
}

void LinkLog::joined(std::string_view peer) {
    spdlog::info("{}: {} is a peer now", node_, peer);
}

void LinkLog::left(std::string_view peer) {
    spdlog::info("{}: {} is no longer a peer", node_, peer);
}

void LinkLog::trouble(std::string_view peer, std::string_view state, std::string_view cause) {
    spdlog::warn("{}: peer {} is {}: {}", node_, peer, state, cause);
}

void LinkLog::trouble_over(std::string_view peer, std::string_view state) {
    spdlog::info("{}: peer {} is {} now", node_, peer, state);
}

void LinkLog::met_self(std::string_view place) {
    ++counts_[reason_of(make_error_code(Error::own_id))];
    const auto subject = "itself at " + std::string(place);
    if (subjects_.size() >= kMaxLogSubjects || !subjects_.try_emplace(subject).second) return;
    spdlog::info("{}: {} is this node itself", node_, place);
}

void LinkLog::in_sync(std::string_view peer, std::uint64_t objects, std::uint64_t bits,
                      unsigned hashes) {
    spdlog::info("{}: in step with {}: {} in {} bits, {}", node_, peer,
                 base::amount(objects, "object"), bits, base::amount(hashes, "hash", "hashes"));
}

}  // namespace protocol
