#include "protocol/link_log.hpp"

#include <spdlog/spdlog.h>

#include "protocol/error.hpp"

namespace protocol {
namespace {

/// Reasons that come with ordinary work.
bool is_ordinary(const boost::system::error_code& error) {
    return error == Error::goodbye || error == Error::superseded || error == Error::restarted ||
           error == Error::no_peer_any_more || error == Error::reached_elsewhere;
}

}  // namespace

void LinkLog::ended(std::string_view link, const boost::system::error_code& error,
                    std::string_view detail, TimePoint now, bool expected) {
    note(link, "ended", error, detail, now, expected);
}

void LinkLog::failed(std::string_view link, const boost::system::error_code& error,
                     std::string_view detail, TimePoint now, bool expected) {
    note(link, "could not be made", error, detail, now, expected);
}

void LinkLog::note(std::string_view link, std::string_view what,
                   const boost::system::error_code& error, std::string_view detail, TimePoint now,
                   bool expected) {
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
    if (!is_new && now - state.logged_at < kLogAgainAfter) {
        ++state.kept_back;
        return;
    }
    const auto repeated =
        state.kept_back == 0 ? "" : fmt::format(" ({} more since the last line)", state.kept_back);
    state = {now, 0};
    const auto level = expected || is_ordinary(error) ? spdlog::level::info : spdlog::level::warn;
    spdlog::log(level, "{}: {} {}: {} [{}]{}{}{}", node_, link, what, error.message(), reason,
                detail.empty() ? "" : ": ", detail, repeated);
}

void LinkLog::up(std::string_view link) {
    spdlog::info("{}: {} is up", node_, link);
}

void LinkLog::joined(std::string_view peer) {
    spdlog::info("{}: {} is a peer now", node_, peer);
}

void LinkLog::left(std::string_view peer) {
    spdlog::info("{}: {} is no peer any more", node_, peer);
}

void LinkLog::in_sync(std::string_view peer, std::uint64_t objects, std::uint64_t bits,
                      unsigned hashes) {
    spdlog::info("{}: in step with {}: {} objects in {} bits, {} hashes", node_, peer, objects,
                 bits, hashes);
}

}  // namespace protocol
