#include "proxy/storage/invalidation_journal.hpp"

#include <xxhash.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace proxy {
namespace {

using boost::system::error_code;
using protocol::InvalidationBacklog;

constexpr std::string_view kText = "hearsay invalidations\n";  // the same in all versions, as is
constexpr std::uint32_t kFormat = 2;                           // the offset of this
constexpr std::size_t kHeadBytes = 58;
constexpr std::size_t kRecordHeadBytes = 16;
constexpr std::size_t kEntryBytes = 24;
constexpr std::uint64_t kIsTag = std::uint64_t{1} << 63;
constexpr std::size_t kEntriesPerRecord = 1024;
constexpr std::size_t kMaxBodyBytes = kEntriesPerRecord * kEntryBytes;
constexpr std::size_t kMaxNameBytes = 64;
/// A larger file is foreign, as the largest invalidation log takes some 7 MiB.
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxAdded = kMaxFileBytes / 2;

/// Format 1 has no instances.
enum class Type : std::uint32_t { entries = 1, confirmed_by_some_instance = 2, confirmed = 3 };

std::uint64_t checksum(DiskView bytes, std::uint64_t seed) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

void put_record(DiskBytes& out, Type type, const DiskBytes& body, std::uint64_t mark) {
    const auto begin = out.size();
    put<std::uint32_t>(out, static_cast<std::uint32_t>(body.size()));
    put<std::uint32_t>(out, static_cast<std::uint32_t>(type));
    const auto of_head = checksum(DiskView(out).subspan(begin), mark);
    put<std::uint64_t>(out, checksum(body, of_head));
    out.insert(out.end(), body.begin(), body.end());
}

void put_entries(DiskBytes& out, std::span<const InvalidationBacklog::Entry> entries,
                 std::uint64_t mark) {
    while (!entries.empty()) {
        DiskBytes body;
        const auto count = std::min(entries.size(), kEntriesPerRecord);
        body.reserve(count * kEntryBytes);
        for (const auto& entry : entries.first(count)) {
            put<std::uint64_t>(body, entry.number | (entry.is_tag ? kIsTag : 0));
            put_hash(body, entry.hash);
        }
        put_record(out, Type::entries, body, mark);
        entries = entries.subspan(count);
    }
}

void put_confirmed(DiskBytes& out, std::string_view node,
                   const InvalidationBacklog::PeerProgress& by, std::uint64_t mark) {
    DiskBytes body;
    put<std::uint64_t>(body, by.number);
    body.insert(body.end(), by.instance.begin(), by.instance.end());
    put_text(body, node);
    put_record(out, Type::confirmed, body, mark);
}

/// False if a value is impossible.
bool take(InvalidationBacklog& kept, Type type, DiskView body) {
    ByteCursor in(body);
    if (type == Type::confirmed || type == Type::confirmed_by_some_instance) {
        InvalidationBacklog::PeerProgress by{in.number<std::uint64_t>(), {}};
        if (type == Type::confirmed) {
            const auto instance = in.take(by.instance.size());
            std::copy(instance.begin(), instance.end(), by.instance.begin());
        }
        const auto node = in.rest();
        if (!in.ok() || node.empty() || node.size() > kMaxNameBytes) return false;
        kept.confirmed[std::string(as_text(node))] = by;
        return true;
    }
    if (type != Type::entries || body.empty() || body.size() % kEntryBytes != 0) return false;
    while (!in.rest().empty()) {
        const auto number = in.number<std::uint64_t>();
        InvalidationBacklog::Entry entry{number & ~kIsTag, {}, (number & kIsTag) != 0};
        entry.hash = in.hash();
        const auto before = kept.entries.empty() ? kept.gone : kept.entries.back().number;
        if (entry.number <= before) return false;
        kept.last = std::max(kept.last, entry.number);
        kept.entries.push_back(entry);
    }
    return true;
}

}  // namespace

DiskBytes journal_of(const InvalidationBacklog& all, std::uint64_t secret_id) {
    DiskBytes out;
    out.reserve(kHeadBytes + all.entries.size() * (kEntryBytes + 1) + all.confirmed.size() * 80);
    put_text(out, kText);
    put<std::uint32_t>(out, kFormat);
    put<std::uint64_t>(out, secret_id);
    put<std::uint64_t>(out, all.gone);
    put<std::uint64_t>(out, all.last);
    put<std::uint64_t>(out, checksum(out, 0));
    put_entries(out, all.entries, secret_id);
    for (const auto& [node, by] : all.confirmed) put_confirmed(out, node, by, secret_id);
    return out;
}

ReadJournal read_journal(DiskView bytes, std::uint64_t secret_id) {
    ReadJournal result;
    const auto stop = [&](DiskError why) {
        result.trouble = why;
        return result;
    };
    ByteCursor in(bytes);
    if (in.text(kText.size()) != kText) return stop(DiskError::foreign);
    if (in.number<std::uint32_t>() > kFormat) return stop(DiskError::newer_format);
    const auto mark = in.number<std::uint64_t>();
    const auto gone = in.number<std::uint64_t>(), last = in.number<std::uint64_t>();
    const auto sum = in.number<std::uint64_t>();
    if (!in.ok()) return stop(DiskError::cut_off);
    if (sum != checksum(bytes.first(kHeadBytes - sizeof sum), 0) || gone > last)
        return stop(DiskError::bad_checksum);
    if (mark != secret_id) return stop(DiskError::other_secret);
    result.kept.gone = gone;
    result.kept.last = last;
    while (!in.rest().empty()) {
        const auto head = in.rest();
        const auto body_bytes = in.number<std::uint32_t>();
        const auto type = static_cast<Type>(in.number<std::uint32_t>());
        const auto body_sum = in.number<std::uint64_t>();
        if (!in.ok()) return stop(DiskError::cut_off);
        if (body_bytes > kMaxBodyBytes) return stop(DiskError::bad_length);
        const auto body = in.take(body_bytes);
        if (!in.ok()) return stop(DiskError::cut_off);
        const auto of_head = checksum(head.first(kRecordHeadBytes - sizeof body_sum), secret_id);
        if (checksum(body, of_head) != body_sum) return stop(DiskError::bad_checksum);
        if (!take(result.kept, type, body)) return stop(DiskError::bad_type);
    }
    return result;
}

InvalidationJournal::InvalidationJournal(DiskCalls& calls, std::filesystem::path file,
                                         std::uint64_t secret_id)
    : secret_mark_(secret_id), file_(calls, std::move(file)) {
    if (const auto bytes = file_.content(kMaxFileBytes)) {
        auto read = read_journal(*bytes, secret_mark_);
        earlier_ = std::move(read.kept);
        if (read.trouble) trouble_ = make_error_code(*read.trouble);
    } else if (bytes.error() != boost::system::errc::no_such_file_or_directory) {
        trouble_ = bytes.error();
    }
    if (const auto error = file_.replace(journal_of(earlier_, secret_mark_))) {
        broken_ = error;
        incomplete_ = true;
    }
    base_bytes_ = file_.bytes();
    noted_ = earlier_.confirmed;
    thread_ = std::thread([this] { run(); });
}

InvalidationJournal::~InvalidationJournal() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    wakes_.notify_one();
    thread_.join();
}

void InvalidationJournal::add(std::uint64_t last, const protocol::Invalidation& what) {
    std::vector<InvalidationBacklog::Entry> entries;
    entries.reserve(what.keys.size() + what.tags.size());
    auto number = last - what.keys.size() - what.tags.size();
    for (const auto& key : what.keys) entries.push_back({++number, key, false});
    for (const auto& tag : what.tags) entries.push_back({++number, tag, true});
    DiskBytes records;
    put_entries(records, entries, secret_mark_);
    push(records);
}

void InvalidationJournal::confirmed(const InvalidationBacklog::ConfirmedByNode& by_node) {
    DiskBytes records;
    for (const auto& [node, by] : by_node) {
        const auto [noted, is_new] = noted_.try_emplace(node, by);
        if (!is_new && std::exchange(noted->second, by) == by) continue;
        put_confirmed(records, node, by, secret_mark_);
    }
    // Nodes that the log has forgotten leave the file at the next rewrite.
    std::erase_if(noted_, [&](const auto& noted) { return !by_node.contains(noted.first); });
    push(records);
}

void InvalidationJournal::push(const DiskBytes& records) {
    if (records.empty()) return;
    {
        const std::lock_guard lock(mutex_);
        added_bytes_ += records.size();
        if (waiting_.more.size() + records.size() > kMaxWaiting || added_bytes_ > kMaxAdded)
            incomplete_ = true;
        if (incomplete_) return;  // until the next rewrite
        waiting_.more.insert(waiting_.more.end(), records.begin(), records.end());
    }
    wakes_.notify_one();
}

bool InvalidationJournal::wants_rewrite() const {
    const std::lock_guard lock(mutex_);
    if (waiting_.all) return false;
    return incomplete_ || added_bytes_ > std::max<std::uint64_t>(base_bytes_, kMinAdded);
}

void InvalidationJournal::rewrite(InvalidationBacklog all) {
    noted_ = all.confirmed;
    {
        const std::lock_guard lock(mutex_);
        base_bytes_ = all.entries.size() * kEntryBytes;
        waiting_.all = std::move(all);
        waiting_.more.clear();  // `all` contains it
        added_bytes_ = 0;
        incomplete_ = false;
    }
    wakes_.notify_one();
}

void InvalidationJournal::when_written(WriteHandler done) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.done.push_back(std::move(done));
    }
    wakes_.notify_one();
}

std::optional<error_code> InvalidationJournal::trouble() const {
    const std::lock_guard lock(mutex_);
    return broken_;
}

void InvalidationJournal::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wakes_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        const auto work = std::exchange(waiting_, Work());
        lock.unlock();
        const auto error = perform(work);
        lock.lock();
        note(error, work);
        const auto written = !broken_ && !incomplete_;
        // The receivers ask for the result, so it is noted first.
        lock.unlock();
        for (const auto& done : work.done) done(written);
        lock.lock();
    }
}

void InvalidationJournal::note(const error_code& error, const Work& work) {
    if (!error && work.all) broken_.reset();
    if (!error) return;
    broken_ = error;
    if (waiting_.all) return;  // a rewrite comes first
    incomplete_ = true;
    waiting_.more.clear();  // its loss would leave a gap
}

error_code InvalidationJournal::perform(const Work& work) {
    if (work.all)
        if (const auto error = file_.replace(journal_of(*work.all, secret_mark_))) return error;
    return work.more.empty() ? error_code() : file_.append(work.more);
}

error_code AppendedFile::replace(DiskView content) {
    auto file = replace_file(calls_, path_, content);
    if (!file) return file.error();
    file_ = std::move(*file);
    bytes_ = content.size();
    return sync_directory(calls_, path_.parent_path());
}

error_code AppendedFile::append(DiskView more) {
    if (const auto error = file_.write(more, bytes_)) return error;
    bytes_ += more.size();
    return {};
}

}  // namespace proxy
