#include "proxy/disk/disk_directory.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "proxy/disk/second_request.hpp"

namespace proxy {
namespace {

constexpr unsigned kInstanceShift = 36;  // the bits of a seq above it are the instance
constexpr std::chrono::seconds kIdle{1};
constexpr std::chrono::milliseconds kEndLook{10};
constexpr int kLastTries = 2;  // writes that are tried again at the end

SegmentLog::Config log_config(const DiskDirectory::Config& config, const SuperFile& super) {
    const auto next =
        config.trouble.empty() ? next_segment_number(config.path) : DiskResult<std::uint32_t>(1);
    if (!next) throw boost::system::system_error(next.error());
    return {config.path, super.directory_id(), config.cap_bytes, config.segment_bytes, *next};
}

}  // namespace

DiskDirectory::DiskDirectory(DiskCalls& calls, Config config, SuperFile super, DiskOwner& owner,
                             Hooks hooks)
    : calls_(calls),
      config_(std::move(config)),
      owner_(owner),
      hooks_(std::move(hooks)),
      super_(std::move(super)),
      state_(config_.trouble.empty() ? State::loading : State::off),
      seq_(std::uint64_t{super_.instance()} << kInstanceShift),
      last_error_(config_.trouble),
      is_disowned_(!config_.trouble.empty()),
      log_(calls, log_config(config_, super_), reclaiming(),
           [this](SegmentPtr sealed) { sync_.take(std::move(sealed)); }),
      writer_(config_.writer,
              [this](const DiskWriter::Job& job, DiskPlace place) -> DiskResult<DiskPlace> {
                  // A tombstone is written even if a later one covers it.
                  if (!is_tombstone(job.record.type) &&
                      covers(job.record.seq, job.key, job.record.uri, job.record.tags))
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
    if (!thread_.joinable()) return writer_.fail_all(DiskError::ending);
    const auto word_after = config_.stalled_after / 2;
    {
        std::unique_lock lock(ended_mutex_);
        while (!ended_changed_.wait_for(lock, word_after, [this] { return ended_; }))
            say_what_the_end_waits_for();
    }
    thread_.join();
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

DiskDirectory::Clock::duration DiskDirectory::longest_wait() const {
    const auto now = Clock::now();
    auto since = now;
    if (const auto busy = busy_since_.load())
        since = std::min(since, Clock::time_point(Clock::duration(busy)));
    since = std::min(since, reader_.stats().oldest.value_or(now));
    since = std::min(since, sync_.since().value_or(now));
    return now - since;
}

void DiskDirectory::works_on() {
    busy_since_ = Clock::now().time_since_epoch().count();
}

void DiskDirectory::rests() {
    busy_since_ = 0;
}

void DiskDirectory::start() {
    thread_ = std::thread([this] { run(); });
}

bool DiskDirectory::has_room() const {
    if (state_ != State::ready) return false;
    const auto log = log_.stats();
    return log.bytes + std::max(log.cap_bytes / SecondRequest::kRoomPart, 2 * log.segment_bytes) <=
           log.cap_bytes;
}

bool DiskDirectory::write(DiskWriter::Job job) {
    if (is_off() || failing_) {
        ++refused_off_;
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
        note_trouble("too many purges wait to be written: all content counts as purged");
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
            if (!is_off() || is_disowned_)
                written();
            else if (unconfirmed_.size() < kMaxTombstones)
                unconfirmed_.push_back(std::move(written));
        };
    writer_.push(std::move(job));
}

std::optional<DiskResult<LoadedRecord>> DiskDirectory::read_now(const DiskReader::Wanted& wanted,
                                                                std::string_view uri) {
    const auto segment = log_.find(number_of(wanted.place));
    if (!segment) return DiskResult<LoadedRecord>(DiskError::no_record);
    return reader_.read_now(segment, wanted, uri);
}

bool DiskDirectory::read(const DiskReader::Wanted& wanted, std::string uri,
                         DiskReader::Answer answer) {
    return reader_.read(log_.find(number_of(wanted.place)), wanted, std::move(uri),
                        std::move(answer));
}

DiskResult<LoadedRecord> DiskDirectory::judge(DiskResult<LoadedRecord> loaded) {
    if (!loaded) {
        note_error(loaded.error(), "reading");
        return loaded;
    }
    const auto& record = loaded->record;
    if (record.seq < newest_tombstone_ &&
        covers(record.seq, owner_.hash_of(record.uri), record.uri, record.tags))
        return DiskError::purged;
    return loaded;
}

bool DiskDirectory::covers(std::uint64_t seq, summary::KeyHash key, std::string_view uri,
                           std::span<const summary::KeyHash> tags) const {
    if (seq >= newest_tombstone_) return false;
    std::vector<summary::KeyHash> prefixes;
    if (has_prefixes_) prefixes = owner_.prefix_tags_of(uri);
    const std::lock_guard lock(tombstones_mutex_);
    return tombstones_.cover(seq, key, tags) ||
           (!prefixes.empty() && tombstones_.cover(seq, key, prefixes));
}

void DiskDirectory::note(const FooterEntry& tombstone) {
    if (std::ranges::any_of(tombstone.tags,
                            [this](auto hash) { return owner_.is_prefix_tag(hash); }))
        has_prefixes_ = true;
    std::uint64_t overflows = 0;
    {
        const std::lock_guard lock(tombstones_mutex_);
        const auto before = tombstones_.overflows();
        tombstones_.note(tombstone);
        newest_tombstone_ = tombstones_.newest();
        overflows = tombstones_.overflows() - before;
    }
    if (overflows > 0)
        note_trouble("too many purges to remember one by one: older content counts as purged");
}

void DiskDirectory::note_trouble(std::string what) {
    const std::lock_guard lock(trouble_mutex_);
    last_error_ = std::move(what);
    last_error_at_ = Clock::now();
    last_error_is_full_ = false;
}

void DiskDirectory::set_cap(std::uint64_t bytes) {
    log_.set_cap(bytes);
    writer_.interrupt();
}

bool DiskDirectory::set_company(const SuperFile::Company& company) {
    boost::system::error_code error;
    {
        const std::lock_guard lock(super_mutex_);
        error = super_.set_company(company);
    }
    if (error) note_error(error, "writing the super file");
    return !error;
}

void DiskDirectory::note_error(const boost::system::error_code& error, std::string_view what) {
    if (error == DiskError::other_key) return;  // an error of the caller
    const std::lock_guard lock(trouble_mutex_);
    last_error_ = std::string(what).append(": ").append(error.message());
    last_error_at_ = Clock::now();
    last_error_is_full_ = is_full(error);
    const bool of_the_disk = is_of_system(error) && !is_full(error) && !is_of_process(error);
    if (!of_the_disk || (!faults_.note(Clock::now()) && !is_gone(error))) return;
    failing_ = true;
    writer_.interrupt();
}

Reclaiming DiskDirectory::reclaiming() {
    Reclaiming made;
    const auto out = [index = config_.index](DiskPlace place) {
        return in_directory(index, place);
    };
    made.uses = [this, out](const FooterEntry& entry, DiskPlace place) -> std::optional<unsigned> {
        works_on();
        if (entry.seq < newest_tombstone_ &&
            covers(entry.seq, owner_.hash_of(entry.uri), entry.uri, entry.tags))
            return std::nullopt;
        return owner_.uses(entry, out(place));
    };
    made.moved = [this, out](const FooterEntry& entry, DiskPlace from, DiskPlace to) {
        owner_.moved(entry, out(from), out(to));
    };
    made.dropped = [this, out](const FooterEntry& entry, DiskPlace place) {
        if (!is_tombstone(entry.type)) return owner_.dropped(entry, out(place));
        const std::lock_guard lock(tombstones_mutex_);
        tombstones_.forget(entry);
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
        return hooks_.is_home(key) && !covers(entry.seq, key, entry.uri, entry.tags);
    };
    hooks.recovered = [this](std::span<RecoveredKey> batch) {
        for (auto& one : batch) one.place = in_directory(config_.index, one.place);
        owner_.recovered(batch);
    };
    hooks.stopped = [this] { return ending_ || failing_; };
    return hooks;
}

void DiskDirectory::load() {
    const auto begin = Clock::now();
    auto found =
        recover(calls_, config_.path, super_.directory_id(), kRecoveryThreads, recovery_hooks());
    {
        const std::lock_guard lock(trouble_mutex_);
        if (found) recovered_ = *found;
        loading_seconds_ = std::chrono::duration<double>(Clock::now() - begin).count();
    }
    if (!found) {
        note_error(found.error(), "reading the directory");
        failing_ = true;  // its content beside the cap is unknown
    }
    // Older segments are unknown, and only the oldest segment may be reclaimed.
    partly_loaded_ = ending_;
    if (partly_loaded_)
        log_.reset(super_.directory_id());
    else if (found && found->last)
        if (const auto error = log_.go_on(std::move(*found->last))) note_error(error, "writing");
    if (!failing_) state_ = State::ready;
}

void DiskDirectory::run() {
    works_on();
    if (!is_off()) load();
    for (;;) {
        if (failing_) go_off();
        if (is_off()) stay_off();
        if (ending_) break;
        step();
    }
    if (!is_off()) finish();
    writer_.fail_all(DiskError::ending);
    rests();
    {
        const std::lock_guard lock(ended_mutex_);
        ended_ = true;
    }
    ended_changed_.notify_all();
}

bool DiskDirectory::is_still_ours() {
    const std::lock_guard lock(super_mutex_);
    return !super_.is_removed();
}

void DiskDirectory::step() {
    works_on();
    // A user who empties the directory of a running node has ended its content.
    if (!is_still_ours()) return note_error(of_system(ENOENT), SuperFile::kName);
    if (const auto error = writer_.write(log_)) note_error(error, "writing");
    works_on();
    const auto gave_back = log_.give_back();
    if (!gave_back) note_error(gave_back.error(), "giving room back");
    const bool more = gave_back && *gave_back == SegmentLog::GaveBack::a_segment;
    rests();
    if (!more && !failing_ && !ending_) writer_.wait(kIdle);
}

/// Writes the jobs that were pushed before the end.
void DiskDirectory::finish() {
    boost::system::error_code error;
    for (int failed = 0; !writer_.empty() && failed < kLastTries; failed += error ? 1 : 0) {
        works_on();
        writer_.retry_now();
        error = writer_.write(log_);
        if (error) note_error(error, "writing");
    }
    // A purge is unwritten, so the whole content must not come back.
    if (!writer_.empty() || (partly_loaded_ && error)) {
        is_disowned_ = set_company({});
        if (!is_disowned_) state_ = State::off;  // a purge that waits stays unconfirmed
    }
    if (error) return;
    if (const auto failed = log_.seal()) note_error(failed, "writing");
    sync_.wait();
}

void DiskDirectory::go_off() {
    state_ = State::off;
    {
        const std::lock_guard lock(super_mutex_);
        company_ = super_.company();
        instance_ = super_.instance();
    }
    const bool others_know = hooks_.goes_off();
    is_disowned_ = set_company({}) || others_know;
    log_.reset(super_.directory_id());
    writer_.fail_all(of_system(EIO));
    owner_.lost({config_.index, {}});
}

/// Returns at the end, or when the directory is ready again.
void DiskDirectory::stay_off() {
    auto next_try = Clock::now() + config_.retry;
    while (!ending_) {
        writer_.fail_all(of_system(EIO));
        rests();
        writer_.wait(std::clamp<Clock::duration>(next_try - Clock::now(), {}, kIdle));
        if (Clock::now() < next_try) continue;
        works_on();
        if (config_.alone && come_back()) return;
        if (!config_.alone && !is_disowned_) is_disowned_ = set_company({});
        if (is_disowned_) confirm();
        next_try = Clock::now() + config_.retry;
    }
}

/// The directory is empty then.
bool DiskDirectory::come_back() {
    const auto failed = [this](const boost::system::error_code& error) {
        note_trouble("trying again: " + error.message());
        return false;
    };
    if (config_.prepare) {
        const auto found = look_into(calls_, config_.path);
        if (!found) return failed(found.error());
        if (found->whose == DirectoryContents::Whose::others) return failed(DiskError::foreign);
        if (const auto why_not = config_.prepare(config_.path); !why_not.empty()) {
            note_trouble("trying again: " + why_not);
            return false;
        }
    }
    {
        const std::lock_guard lock(super_mutex_);
        super_ = SuperFile();  // unlocks a file that may belong to another process now
        auto taken = SuperFile::take(calls_, config_.path, config_.secret_mark);
        if (!taken) return failed(taken.error());
        super_ = std::move(*taken);
        if (const auto error = remove_segments(calls_, config_.path)) return failed(error);
        const SuperFile::Company alone{company_.term + 1, company_of({super_.directory_id()})};
        // Its seqs continue those of this process.
        if (const auto error = super_.set_company(alone, instance_)) return failed(error);
        log_.reset(super_.directory_id());
    }
    {
        const std::lock_guard lock(trouble_mutex_);
        faults_.clear();
        failing_ = false;
    }
    state_ = State::ready;
    confirm();
    return true;
}

/// The records from before the failure cannot come back any more.
void DiskDirectory::confirm() {
    for (const auto& written : std::exchange(unconfirmed_, {})) written();
}

DiskStatus DiskDirectory::status() const {
    const auto log = log_.stats();
    const auto writer = writer_.stats();
    const auto reader = reader_.stats();
    DiskStatus status;
    status.path = config_.path.string();
    const auto is_stalled = longest_wait() > config_.stalled_after;
    status.state = is_off()        ? DiskStatus::State::off
                   : is_loading()  ? DiskStatus::State::loading
                   : is_stalled    ? DiskStatus::State::stalled
                   : writer.paused ? DiskStatus::State::paused
                                   : DiskStatus::State::ready;
    status.cap_bytes = log.cap_bytes;
    status.bytes = log.bytes;
    status.segments = log.segments;
    status.queued_bytes = writer.queued_bytes;
    status.written = writer.written;
    status.refused_queue_full = writer.refused_queue_full;
    status.refused_paused = writer.refused_paused;
    status.refused_too_large = writer.refused_too_large;
    status.refused_off = refused_off_;
    status.failed = writer.failed;
    status.written_bytes = log.written_bytes;
    status.readmitted_bytes = log.readmitted_bytes;
    status.reclaimed = log.reclaimed;
    status.read_at_once = reader.at_once;
    status.read_by_threads = reader.by_threads;
    status.read_refused = reader.refused;
    status.read_failed = reader.failed;
    const std::lock_guard lock(trouble_mutex_);
    status.last_error = last_error_;
    if (!last_error_.empty())
        status.last_error_seconds =
            std::chrono::duration<double>(Clock::now() - last_error_at_).count();
    status.last_error_is_full = last_error_is_full_;
    status.recovered = recovered_.records;
    status.recovered_doubtful = recovered_.doubtful;
    status.recovered_torn = recovered_.torn;
    status.found_unsealed = recovered_.scanned;
    status.found_damaged = recovered_.damaged;
    status.found_unreadable = recovered_.unreadable;
    status.found_foreign = recovered_.foreign;
    status.loading_seconds = loading_seconds_;
    return status;
}

}  // namespace proxy
