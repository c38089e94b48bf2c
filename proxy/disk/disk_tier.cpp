#include "proxy/disk/disk_tier.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "proxy/disk/disk_directory.hpp"

namespace proxy {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path,
                         const boost::system::error_code& error) {
    throw std::runtime_error(path.string() + ": " + error.message());
}

/// The directories that were present all the time: those of the last term, if all of them agree on
/// their company. The content of the others is discarded.
std::vector<bool> who_counts(std::span<const std::optional<SuperFile>> supers) {
    std::uint64_t last = 0;
    for (const auto& super : supers)
        if (super) last = std::max(last, super->company().term);
    std::optional<std::uint64_t> members;
    bool agree = last > 0;
    for (const auto& super : supers) {
        if (!super || super->company().term != last) continue;
        if (!members) members = super->company().members;
        agree = agree && *members == super->company().members;
    }
    std::vector<bool> counts;
    for (const auto& super : supers)
        counts.push_back(agree && super && super->company().term == last);
    return counts;
}

}  // namespace

double DiskTier::DirectoryShare::wants(summary::KeyHash key) const {
    auto word = (key.low ^ seed) * 0xff51afd7ed558ccd;  // MurmurHash3's finalizer
    word = (word ^ word >> 33) * 0xc4ceb9fe1a85ec53;
    word ^= word >> 33;
    const auto evenly = (static_cast<double>(word >> 11) + 0.5) * 0x1p-53;  // within 0 and 1
    return -size / std::log(evenly);
}

DiskTier::DiskTier(DiskCalls& calls, Config config, DiskOwner& owner) {
    std::vector<std::optional<SuperFile>> supers;
    std::vector<std::string> troubles;
    for (const auto& directory : config.directories) {
        const auto& path = directory.path.native();
        seats_.push_back({XXH3_64bits(path.data(), path.size()),
                          static_cast<double>(std::max(directory.cap_bytes, kLeastDiskCap))});
        auto super = SuperFile::take(calls, directory.path, config.secret_id);
        if (!super && !is_of_device(super.error())) refuse(directory.path, super.error());
        ids_.push_back(super ? super->directory_id() : 0);
        troubles.push_back(super ? "" : super.error().message());
        supers.push_back(super ? std::optional(std::move(*super)) : std::nullopt);
    }
    if (std::ranges::none_of(supers, [](auto& super) { return super.has_value(); }))
        throw std::runtime_error(config.directories.front().path.string() + ": " +
                                 troubles.front());
    keep_company(calls, config, supers);
    for (unsigned i = 0; i < ids_.size(); ++i)
        directories_.push_back(make(calls, config, i, std::move(supers[i]).value_or(SuperFile()),
                                    std::move(troubles[i]), owner));
}

/// Each directory may need the others until all threads have ended.
DiskTier::~DiskTier() {
    for (auto& directory : directories_) directory->begin_end();
    for (auto& directory : directories_) directory->wait_for_end();
}

void DiskTier::start() {
    for (auto& directory : directories_) directory->start();
}

/// The home among the directories in use; the first directory if all are off.
DiskDirectory& DiskTier::home_of(summary::KeyHash key) const {
    auto* home = directories_.front().get();
    double most = 0;
    for (std::size_t i = 0; directories_.size() > 1 && i < directories_.size(); ++i) {
        if (directories_[i]->is_off()) continue;
        const auto wanted = seats_[i].wants(key);
        if (wanted <= most) continue;
        home = directories_[i].get();
        most = wanted;
    }
    return *home;
}

DiskDirectory* DiskTier::at(RecordLocation place) const {
    const auto index = directory_of(place);
    return index < directories_.size() ? directories_[index].get() : nullptr;
}

/// Empties the directories that were absent, and writes the present company.
void DiskTier::keep_company(DiskCalls& calls, const Config& config,
                            std::vector<std::optional<SuperFile>>& supers) {
    const auto counts = who_counts(supers);
    std::vector<std::uint64_t> present;
    for (std::size_t i = 0; i < supers.size(); ++i)
        if (supers[i]) present.push_back(ids_[i]);
    const auto members = company_of(present);
    bool as_before = true;
    for (std::size_t i = 0; i < supers.size(); ++i) {
        if (!supers[i]) continue;
        const auto& company = supers[i]->company();
        term_ = std::max(term_, company.term);
        as_before = as_before && counts[i] && company.members == members;
        const auto& path = config.directories[i].path;
        if (counts[i]) continue;
        if (const auto error = remove_segments(calls, path)) refuse(path, error);
    }
    if (as_before) return;
    ++term_;
    for (std::size_t i = 0; i < supers.size(); ++i) {
        if (!supers[i]) continue;
        if (const auto error = supers[i]->set_company({term_, members}))
            refuse(config.directories[i].path, error);
    }
}

std::unique_ptr<DiskDirectory> DiskTier::make(DiskCalls& calls, const Config& config,
                                              unsigned index, SuperFile super, std::string trouble,
                                              DiskOwner& owner) {
    DiskDirectory::Config made;
    made.trouble = std::move(trouble);
    made.index = index;
    made.alone = config.directories.size() == 1;
    const auto& [path, cap_bytes, segment_bytes] = config.directories[index];
    made.segment_bytes = segment_bytes;
    made.cap_bytes = cap_bytes;
    made.path = path;
    made.secret_id = config.secret_id;
    made.retry = config.retry;
    made.stalled_after = config.stalled_after;
    made.prepare = config.prepare;
    made.writer = config.writer;
    made.reader = config.reader;
    DiskDirectory::Hooks hooks;
    // Among all configured directories. A record that was written elsewhere while its home was
    // off may be outdated.
    hooks.is_home = [this, index](summary::KeyHash key) {
        if (seats_.size() == 1) return true;
        const auto here = seats_[index].wants(key);
        return std::ranges::none_of(seats_, [&](auto& seat) { return seat.wants(key) > here; });
    };
    hooks.goes_off = [this, index] { return part_with(index); };
    try {
        return std::make_unique<DiskDirectory>(calls, std::move(made), std::move(super), owner,
                                               std::move(hooks));
    } catch (const boost::system::system_error& error) {
        refuse(config.directories[index].path, error.code());
    }
}

/// False if no other directory has noted it.
bool DiskTier::part_with(unsigned index) {
    const std::lock_guard lock(parting_);
    std::vector<std::uint64_t> left;
    for (std::size_t i = 0; i < ids_.size(); ++i)
        if (i != index && !directories_[i]->is_off()) left.push_back(ids_[i]);
    const SuperFile::DirectorySet company{++term_, company_of(left)};
    bool noted = false;
    for (std::size_t i = 0; i < ids_.size(); ++i)
        if (i != index && !directories_[i]->is_off())
            noted = directories_[i]->set_company(company) || noted;
    return noted;
}

bool DiskTier::loading() const {
    return std::ranges::any_of(directories_, [](auto& one) { return one->is_loading(); });
}

bool DiskTier::has_room(summary::KeyHash key) const {
    return home_of(key).has_room();
}

bool DiskTier::write(summary::KeyHash key, Write write) {
    return home_of(key).write({std::move(write.record), key, std::move(write.body),
                               std::move(write.owner), std::move(write.done)});
}

namespace {

/// Returns a function that calls `written` at its `count`th call.
std::function<void()> after_all(std::size_t count, DiskTier::Ended written) {
    if (!written) return {};
    struct PendingWrites {
        std::atomic<std::size_t> count;
        DiskTier::Ended written;
    };
    auto left = std::make_shared<PendingWrites>(count, std::move(written));
    return [left] {
        if (--left->count == 0) left->written();
    };
}

}  // namespace

void DiskTier::end(std::span<const summary::KeyHash> hashes, Ended written) {
    const auto each = after_all(directories_.size(), std::move(written));
    for (const auto& directory : directories_) directory->end(hashes, each);
}

void DiskTier::end_all(Ended written) {
    const auto each = after_all(directories_.size(), std::move(written));
    for (const auto& directory : directories_) directory->end_all(each);
}

std::optional<DiskResult<LoadedRecord>> DiskTier::read_now(const DiskReader::RecordRequest& wanted,
                                                           std::string_view uri) {
    auto* directory = at(wanted.place);
    if (directory == nullptr) return DiskResult<LoadedRecord>(DiskError::no_record);
    return directory->read_now(wanted, uri);
}

bool DiskTier::read(const DiskReader::RecordRequest& wanted, std::string uri,
                    DiskReader::Answer answer) {
    auto* directory = at(wanted.place);
    return directory != nullptr && directory->read(wanted, std::move(uri), std::move(answer));
}

void DiskTier::set_cap(std::size_t directory, std::uint64_t bytes) {
    directories_.at(directory)->set_cap(bytes);
}

std::vector<DiskStatus> DiskTier::status() const {
    std::vector<DiskStatus> all;
    for (const auto& directory : directories_) all.push_back(directory->status());
    return all;
}

}  // namespace proxy
