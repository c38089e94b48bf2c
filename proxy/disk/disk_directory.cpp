#include "proxy/disk/disk_directory.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "proxy/disk/admission_filter.hpp"

namespace proxy {
namespace {

constexpr unsigned kInstanceShift = 36;  // the bits of a seq above it are the instance
constexpr std::chrono::seconds kIdle{1};
constexpr std::chrono::milliseconds kEndLook{10};
constexpr int kLastTries = 2;  // writes that are tried again at the end

SegmentLog::Config log_config(const DiskDirectory::Config& config, std::uint64_t directory_id) {
    const auto next =
        config.trouble.empty() ? next_segment_number(config.path) : DiskResult<std::uint32_t>(1);
    if (!next) throw boost::system::system_error(next.error());
    return {config.path, directory_id, config.cap_bytes, config.segment_bytes, *next};
}

}  // namespace

DiskDirectory::DiskDirectory(DiskCalls& calls, Config config, SuperFile super, DiskOwner& owner,
                             Hooks hooks)
    : calls_(calls),
      config_(std::move(config)),
      owner_(owner),
      hooks_(std::move(hooks)),
      ownership_(std::move(super), !config_.trouble.empty()),
      state_(config_.trouble.empty() ? State::loading : State::off),
      seq_(std::uint64_t{ownership_.instance()} << kInstanceShift),
      purges_(owner),
      errors_(config_.trouble),
      log_(calls, log_config(config_, ownership_.directory_id()), reclaim_hooks(),
           [this](SegmentPtr sealed) { sync_.take(std::move(sealed)); }),
      writer_(
          config_.writer,
          [this](const DiskWriter::Job& job, RecordLocation place) -> DiskResult<RecordLocation> {
              // A tombstone is written even if a later one covers it.
              if (!is_tombstone(job.record.type) &&
                  purges_.cover(job.record.seq, job.key, job.record.uri, job.record.tags))
                  return DiskError::purged;
              return in_directory(config_.index, place);
          }),
      reader_(config_.reader, [this](auto loaded) { return judge(std::move(loaded)); }),
      sync_([this](const auto& error) { note_error(error, "writing"); }) {}

DiskDirectory::~DiskDirectory() {
    begin_end();
    wait_for_end();
}

void DiskDirectory::begin_end() {
    ending_ = true;
    writer_.interrupt();
}

void DiskDirectory::wait_for_end() {
    if (!thread_.was_started()) return writer_.fail_all(DiskError::ending);
    const auto word_after = config_.stalled_after / 2;
    while (!thread_.ends_within(word_after)) say_what_the_end_waits_for();
    // Then the reads under way are left, and the sync of a segment.
    reader_.begin_end();
    for (auto next_word = Clock::now() + word_after; longest_wait() > Clock::duration{};) {
        std::this_thread::sleep_for(kEndLook);
        if (Clock::now() < next_word) continue;
        say_what_the_end_waits_for();
        next_word = Clock::now() + word_after;
    }
}

void DiskDirectory::say_what_the_end_waits_for() const {
    spdlog::warn(
        "the end waits for the disk {}: a call there has taken {:.0f} s, and {} bytes are to be "
        "written",
        config_.path.string(), std::chrono::duration<double>(longest_wait()).count(),
        writer_.stats().queued_bytes);
}

/// At the end nobody looks at the status any more.
void DiskDirectory::say_what_the_end_loses(std::string_view why) const {
    spdlog::error("disk {}: {}: content is lost at the end", config_.path.string(), why);
}

DiskDirectory::Clock::duration DiskDirectory::longest_wait() const {
    const auto now = Clock::now();
    auto since = std::min(now, thread_.busy_since().value_or(now));
    since = std::min(since, reader_.stats().oldest.value_or(now));
    since = std::min(since, sync_.since().value_or(now));
    return now - since;
}

void DiskDirectory::start() {
    thread_.start([this] { run(); });
}

bool DiskDirectory::has_room() const {
    if (state_ != State::ready) return false;
    const auto log = log_.stats();
    return log.bytes +
               std::max(log.cap_bytes / AdmissionFilter::kRoomPart, 2 * log.segment_bytes) <=
           log.cap_bytes;
}

bool DiskDirectory::write(DiskWriter::Job job) {
    if (is_off() || errors_.is_failing()) {
        writer_.refuse_off();
        return false;
    }
    const std::lock_guard lock(order_);
    job.record.seq = ++seq_;
    return writer_.push(std::move(job));
}

void DiskDirectory::end(std::span<const summary::KeyHash> hashes, std::function<void()> written) {
    const std::lock_guard lock(order_);
    while (hashes.size() > kTombstoneHashes) {
        push_tombstone(RecordType::gone, hashes.first(kTombstoneHashes), {});
        hashes = hashes.subspan(kTombstoneHashes);
    }
    push_tombstone(RecordType::gone, hashes, std::move(written));
}

void DiskDirectory::end_all(std::function<void()> written) {
    const std::lock_guard lock(order_);
    push_tombstone(RecordType::all_gone, {}, std::move(written));
}

/// Precondition: the caller has locked order_.
void DiskDirectory::push_tombstone(RecordType type, std::span<const summary::KeyHash> hashes,
                                   std::function<void()> written) {
    // A disk that hangs or fails for long must not gather tombstones without a bound.
    if (writer_.stats().ends_waiting >= kMaxTombstones) {
        errors_.note("too many purges wait to be written: all content counts as purged");
        if (type == RecordType::gone && hashes.empty()) return;
        type = RecordType::all_gone;
        hashes = {};
        written = nullptr;
    }
    DiskWriter::Job job;
    job.record.type = type;
    job.record.seq = ++seq_;
    job.record.tags.assign(hashes.begin(), hashes.end());
    note(footer_entry(job.record, 0, 0));
    if (written)
        job.done = [this, written = std::move(written)](const auto& where) mutable {
            if (!where) return;  // too large for segments of that size
            if (!is_off() || ownership_.is_disowned())
                written();
            else
                purges_.hold(std::move(written));
        };
    writer_.push(std::move(job));
}

std::optional<DiskResult<LoadedRecord>> DiskDirectory::read_now(
    const DiskReader::RecordRequest& wanted, std::string_view uri) {
    const auto segment = log_.find(number_of(wanted.place));
    if (!segment) return DiskResult<LoadedRecord>(DiskError::no_record);
    return reader_.read_now(segment, wanted, uri);
}

bool DiskDirectory::read(const DiskReader::RecordRequest& wanted, std::string uri,
                         DiskReader::Answer answer) {
    return reader_.read(log_.find(number_of(wanted.place)), wanted, std::move(uri),
                        std::move(answer));
}

DiskResult<LoadedRecord> DiskDirectory::judge(DiskResult<LoadedRecord> loaded) {
    if (!loaded) {
        note_error(loaded.error(), "reading");
        return loaded;
    }
    if (purges_.cover(loaded->record)) return DiskError::purged;
    return loaded;
}

void DiskDirectory::note(const FooterEntry& tombstone) {
    if (purges_.note(tombstone))
        errors_.note("too many purges to remember one by one: older content counts as purged");
}

void DiskDirectory::set_cap(std::uint64_t bytes) {
    log_.set_cap(bytes);
    writer_.interrupt();
}

bool DiskDirectory::set_company(const SuperFile::DirectorySet& company) {
    const auto error = ownership_.set_company(company);
    if (error) note_error(error, "writing the super file");
    return !error;
}

void DiskDirectory::note_error(const boost::system::error_code& error, std::string_view what) {
    if (error == DiskError::other_key) return;  // an error of the caller
    if (errors_.note(error, what)) writer_.interrupt();
}

ReclaimHooks DiskDirectory::reclaim_hooks() {
    ReclaimHooks made;
    const auto out = [index = config_.index](RecordLocation place) {
        return in_directory(index, place);
    };
    made.uses = [this, out](const FooterEntry& entry,
                            RecordLocation place) -> std::optional<unsigned> {
        thread_.works_on();
        if (purges_.cover(entry)) return std::nullopt;
        return owner_.uses(entry, out(place));
    };
    made.moved = [this, out](const FooterEntry& entry, RecordLocation from, RecordLocation to) {
        owner_.moved(entry, out(from), out(to));
    };
    made.dropped = [this, out](const FooterEntry& entry, RecordLocation place) {
        if (!is_tombstone(entry.type)) return owner_.dropped(entry, out(place));
        purges_.forget(entry);
    };
    made.lost = [this](std::uint32_t segment) { owner_.lost({config_.index, segment}); };
    made.failed = [this](const boost::system::error_code& error) {
        note_error(error, "giving room back");
    };
    return made;
}

RecoveryHooks DiskDirectory::recovery_hooks() {
    RecoveryHooks hooks;
    hooks.hash_of = [this](std::string_view uri) { return owner_.hash_of(uri); };
    hooks.opened = [this](SegmentPtr segment) { return log_.adopt(std::move(segment)); };
    hooks.tombstone = [this](const FooterEntry& entry) { note(entry); };
    hooks.counts = [this](const FooterEntry& entry, summary::KeyHash key) {
        return hooks_.is_home(key) && !purges_.cover(entry.seq, key, entry.uri, entry.tags);
    };
    hooks.recovered = [this](std::span<RecoveredKey> batch) {
        for (auto& one : batch) one.place = in_directory(config_.index, one.place);
        owner_.recovered(batch);
    };
    hooks.stopped = [this] { return ending_ || errors_.is_failing(); };
    return hooks;
}

bool DiskDirectory::load() {
    const auto begin = Clock::now();
    auto found = recover(calls_, config_.path, ownership_.directory_id(), kRecoveryThreads,
                         recovery_hooks());
    {
        const std::lock_guard lock(loaded_.mutex);
        if (found) loaded_.counts = *found;
        loaded_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    if (!found) {
        note_error(found.error(), "reading the directory");
        errors_.fail();  // its content beside the cap is unknown
    }
    // Older segments are unknown, and only the oldest segment may be reclaimed.
    const bool whole = !ending_;
    if (!whole)
        log_.reset(ownership_.directory_id());
    else if (found && found->last)
        if (const auto error = log_.go_on(std::move(*found->last))) note_error(error, "writing");
    if (!errors_.is_failing()) state_ = State::ready;
    return whole;
}

void DiskDirectory::run() {
    const auto was_loaded = is_off() || load();
    for (;;) {
        if (errors_.is_failing()) go_off();
        if (is_off()) stay_off();
        if (ending_) break;
        step();
    }
    if (!is_off()) finish(was_loaded);
    writer_.fail_all(DiskError::ending);
}

void DiskDirectory::step() {
    thread_.works_on();
    // A user who empties the directory of a running node has ended its content.
    if (ownership_.is_lost()) return note_error(of_system(ENOENT), SuperFile::kName);
    if (const auto error = writer_.write(log_)) note_error(error, "writing");
    thread_.works_on();
    const auto gave_back = log_.give_back();
    if (!gave_back) note_error(gave_back.error(), "giving room back");
    const bool more = gave_back && *gave_back == SegmentLog::GaveBack::a_segment;
    thread_.rests();
    if (!more && !errors_.is_failing() && !ending_) writer_.wait(kIdle);
}

/// Writes the jobs that were pushed before the end.
void DiskDirectory::finish(bool was_loaded) {
    thread_.works_on();
    if (ownership_.is_lost()) say_what_the_end_loses("its files were removed");
    boost::system::error_code error;
    for (int failed = 0; !writer_.empty() && failed < kLastTries; failed += error ? 1 : 0) {
        thread_.works_on();
        writer_.retry_now();
        error = writer_.write(log_);
        if (error) note_error(error, "writing");
    }
    // A purge is unwritten, so the whole content must not come back.
    if (!writer_.empty() || (!was_loaded && error)) {
        ownership_.set_disowned(set_company({}));
        if (!ownership_.is_disowned()) state_ = State::off;  // a purge that waits stays unconfirmed
    }
    if (error) {
        say_what_the_end_loses(error.message());
        return;
    }
    if (const auto failed = log_.seal()) {
        note_error(failed, "writing");
        say_what_the_end_loses(failed.message());
    }
    sync_.wait();
}

void DiskDirectory::go_off() {
    state_ = State::off;
    if (ending_) say_what_the_end_loses(status().last_error);
    ownership_.leave();
    const bool others_know = hooks_.goes_off();
    ownership_.set_disowned(set_company({}) || others_know);
    log_.reset(ownership_.directory_id());
    writer_.fail_all(of_system(EIO));
    owner_.lost({config_.index, {}});
}

/// Returns at the end, or when the directory is ready again.
void DiskDirectory::stay_off() {
    auto next_try = Clock::now() + config_.retry;
    while (!ending_) {
        writer_.fail_all(of_system(EIO));
        thread_.rests();
        writer_.wait(std::clamp<Clock::duration>(next_try - Clock::now(), {}, kIdle));
        if (Clock::now() < next_try) continue;
        thread_.works_on();
        if (config_.alone && come_back()) return;
        if (!config_.alone && !ownership_.is_disowned()) ownership_.set_disowned(set_company({}));
        if (ownership_.is_disowned()) purges_.confirm();
        next_try = Clock::now() + config_.retry;
    }
}

/// The directory is empty then.
bool DiskDirectory::come_back() {
    const auto failed = [this](const boost::system::error_code& error) {
        errors_.note("trying again: " + error.message());
        return false;
    };
    if (config_.prepare) {
        const auto found = look_into(calls_, config_.path);
        if (!found) return failed(found.error());
        if (found->whose == DirectoryContents::DirectoryOwner::others)
            return failed(DiskError::foreign);
        if (const auto why_not = config_.prepare(config_.path); !why_not.empty()) {
            errors_.note("trying again: " + why_not);
            return false;
        }
    }
    if (const auto error = ownership_.retake(calls_, config_.path, config_.secret_id))
        return failed(error);
    log_.reset(ownership_.directory_id());
    errors_.forgive();
    state_ = State::ready;
    purges_.confirm();
    return true;
}

DiskStatus DiskDirectory::status() const {
    const auto log = log_.stats();
    const auto writer = writer_.stats();
    DiskStatus status;
    status.path = config_.path.string();
    const auto is_stalled = longest_wait() > config_.stalled_after;
    status.state = is_off()        ? DiskStatus::State::off
                   : is_loading()  ? DiskStatus::State::loading
                   : is_stalled    ? DiskStatus::State::stalled
                   : writer.paused ? DiskStatus::State::paused
                                   : DiskStatus::State::ready;
    static_cast<DiskLogCounters&>(status) = log;
    static_cast<DiskWriterCounters&>(status) = writer;
    static_cast<DiskReaderCounters&>(status) = reader_.stats();
    errors_.show(status);
    const std::lock_guard lock(loaded_.mutex);
    static_cast<DiskRecoveryCounters&>(status) = loaded_.counts;
    status.loading_seconds = loaded_.seconds;
    return status;
}

}  // namespace proxy
