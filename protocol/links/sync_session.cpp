#include "protocol/links/sync_session.hpp"

#include <utility>

#include "protocol/wire/reason_against.hpp"

namespace protocol {
namespace {

/// Heartbeats without an answer before a request is repeated.
constexpr int kBeatsPerRequest = 4;

}  // namespace

SyncSession::SyncSession(const Config& config, TimePoint now, std::uint64_t applied,
                         std::uint64_t kept, std::unique_ptr<summary::Replica> left)
    : config_(config),
      replica_(left ? std::move(left) : std::make_unique<summary::Replica>()),
      resuming_(replica_->in_sync()),
      confirmations_(applied, kept),
      asked_at_(now),
      confirmed_at_(now),
      beats_(config.heartbeat, now) {}

std::optional<SyncSession::Action> SyncSession::on_message(const Message& message, TimePoint now) {
    return std::visit([&](const auto& what) { return take(what, now); }, message);
}

std::optional<Message> SyncSession::next(TimePoint now) {
    if (confirmations_.due()) return Confirm{confirmations_.take()};
    if (std::exchange(request_pending_, false)) return SnapshotRequest{};
    if (!beats_.take(now)) return std::nullopt;
    const bool is_news = std::exchange(said_, report_) != report_;
    if (heard_elsewhere_ && !is_news) return std::nullopt;
    return Heartbeat{replica_->epoch(), replica_->generation(),
                     report_ == 0 ? kListensElsewhere : report_, beats_.promise()};
}

std::optional<SyncSession::Action> SyncSession::take(const SnapshotBegin& begin, TimePoint) {
    const summary::SnapshotHead head{begin.summary, begin.objects, begin.payload_bytes};
    if (const auto error = reason_against(summary::judge(head, config_.max_summary_bytes)))
        return Close{*error};
    resuming_ = false;
    assembly_.emplace(begin);
    return std::nullopt;
}

std::optional<SyncSession::Action> SyncSession::take(const SnapshotPart& part, TimePoint now) {
    if (!assembly_) return Close{Error::unexpected_frame};
    auto& received = assembly_->received;
    if (part.payload.size() > assembly_->begin.payload_bytes - received) {
        return Close{Error::malformed_summary};
    }
    received += part.payload.size();
    counters_.announcement_bytes_received += part.payload.size();
    if (!assembly_->payload.take(part.payload)) return Close{Error::malformed_summary};
    if (received < assembly_->begin.payload_bytes) return std::nullopt;
    auto whole = std::move(*assembly_);
    assembly_.reset();
    return load(std::move(whole), now);
}

std::optional<SyncSession::Action> SyncSession::load(Assembly whole, TimePoint now) {
    const auto& begin = whole.begin;
    auto filter = whole.payload.finish();
    if (!filter) return Close{Error::malformed_summary};
    ++counters_.announcements_received;
    ++counters_.snapshots_received;
    const auto what = replica_->apply_snapshot(begin.epoch, begin.generation, std::move(*filter));
    if (what == summary::ApplyResult::repeated) return std::nullopt;
    awaiting_snapshot_ = false;
    objects_ = begin.objects;
    confirmed_at_ = now;
    return Load{};
}

std::optional<SyncSession::Action> SyncSession::take(const Delta& delta, TimePoint now) {
    if (assembly_) return Close{Error::unexpected_frame};
    ++counters_.announcements_received;
    counters_.announcement_bytes_received += delta.payload.size();
    if (awaiting_snapshot_ && !resuming_) return std::nullopt;  // the snapshot will contain it
    auto done = replica_->apply_delta(delta.epoch, delta.generation, delta.payload);
    if (!done.change) return judge(done.what, now);
    confirmed_at_ = now;
    return Change{std::move(*done.change)};
}

std::optional<SyncSession::Action> SyncSession::take(const Heartbeat& beat, TimePoint now) {
    if (assembly_) return Close{Error::unexpected_frame};
    ++counters_.heartbeats_received;
    objects_ = beat.objects;
    // The publisher has sent all deltas, and no snapshot. It names no epoch while it makes one.
    const bool resumes = resuming_ && beat.epoch != 0;
    if (resumes) awaiting_snapshot_ = resuming_ = false;
    if (awaiting_snapshot_) {
        // The publisher has sent everything, unless its heartbeat has crossed the request.
        if (now - asked_at_ >= kBeatsPerRequest * config_.heartbeat) ask_for_snapshot(now);
        return std::nullopt;
    }
    auto action = judge(replica_->heard(beat.epoch, beat.generation), now);
    if (resumes && in_sync()) return Resume{};
    return action;
}

std::optional<SyncSession::Action> SyncSession::take(const CheckHash& check, TimePoint now) {
    if (assembly_) return Close{Error::unexpected_frame};
    if (awaiting_snapshot_) return std::nullopt;
    return judge(replica_->check(check.epoch, check.generation, check.hash), now);
}

std::optional<SyncSession::Action> SyncSession::take(const Goodbye&, TimePoint) {
    return Close{Error::goodbye};
}

std::optional<SyncSession::Action> SyncSession::take(const Welcome&, TimePoint) {
    return Close{Error::unexpected_frame};
}

std::optional<SyncSession::Action> SyncSession::take(const SnapshotRequest&, TimePoint) {
    return Close{Error::unexpected_frame};
}

std::optional<SyncSession::Action> SyncSession::take(const Invalidate& order, TimePoint) {
    if (!confirmations_.named(order.last)) return std::nullopt;
    counters_.invalidations_received += order.keys.size() + order.tags.size();
    return Drop{order.keys, order.tags, false, order.soft};
}

std::optional<SyncSession::Action> SyncSession::take(const InvalidateAll& order, TimePoint) {
    if (!confirmations_.named(order.last)) return std::nullopt;
    ++counters_.invalidations_received;
    return Drop{{}, {}, true};
}

std::optional<SyncSession::Action> SyncSession::take(const Confirm&, TimePoint) {
    return Close{Error::unexpected_frame};
}

/// The end of the link takes reports and renewals; they say nothing about the summary.
std::optional<SyncSession::Action> SyncSession::take(const Report&, TimePoint) {
    return std::nullopt;
}

std::optional<SyncSession::Action> SyncSession::take(const Renewals& all, TimePoint) {
    counters_.renewals_received += all.list.size();
    return std::nullopt;
}

std::optional<SyncSession::Action> SyncSession::judge(summary::ApplyResult what, TimePoint now) {
    switch (what) {
        case summary::ApplyResult::ok:
            confirmed_at_ = now;
            return std::nullopt;
        case summary::ApplyResult::repeated:
            return std::nullopt;
        case summary::ApplyResult::malformed:
            return Close{Error::malformed_summary};
        case summary::ApplyResult::differs:
            ++counters_.check_failures;
            break;
        case summary::ApplyResult::gap:
            break;
        case summary::ApplyResult::wrong_epoch:
            break;
    }
    ask_for_snapshot(now);
    return std::nullopt;
}

void SyncSession::ask_for_snapshot(TimePoint now) {
    awaiting_snapshot_ = true;
    resuming_ = false;
    request_pending_ = true;
    asked_at_ = now;
    ++counters_.resyncs;
}

}  // namespace protocol
