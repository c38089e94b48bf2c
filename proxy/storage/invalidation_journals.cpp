#include "proxy/storage/invalidation_journals.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <memory>
#include <utility>

#include "proxy/disk/super_file.hpp"

namespace proxy {

using protocol::InvalidationBacklog;

InvalidationJournals::JournalFile::JournalFile(DiskCalls& calls, const std::filesystem::path& in,
                                               std::uint64_t secret_id)
    : directory(in), journal(calls, in / SuperFile::kJournalName, secret_id) {}

InvalidationJournals::InvalidationJournals(DiskCalls& calls,
                                           std::span<const std::filesystem::path> directories,
                                           std::uint64_t secret_id) {
    assert(!directories.empty());
    std::vector<InvalidationBacklog> found;
    // Numbers continue from instance to instance, so a journal that could not be written is behind.
    std::pair<std::uint64_t, bool> best;  // the last number, and that it was read to its end
    std::size_t best_at = 0;
    for (const auto& directory : directories) {
        auto& journal = all_.emplace_back(calls, directory, secret_id).journal;
        const auto& kept = found.emplace_back(journal.take_earlier());
        const auto& trouble = journal.trouble_reading();
        if (trouble) trouble_.push_back({directory, *trouble});
        const auto this_one = std::pair(kept.last, !trouble);
        if (this_one <= best) continue;
        best = this_one;
        best_at = found.size() - 1;
    }
    if (best.first > 0 && best.second) trouble_.clear();
    earlier_ = found[best_at];
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (found[i] != earlier_) all_[i].journal.rewrite(earlier_);
}

void InvalidationJournals::add(std::uint64_t last, const protocol::Invalidation& what) {
    for (auto& one : all_) one.journal.add(last, what);
}

void InvalidationJournals::confirmed(const InvalidationBacklog::ConfirmedByNode& by_node) {
    for (auto& one : all_) one.journal.confirmed(by_node);
}

bool InvalidationJournals::wants_rewrite() const {
    return std::ranges::any_of(all_, [](const auto& one) { return one.journal.wants_rewrite(); });
}

void InvalidationJournals::rewrite(const InvalidationBacklog& all) {
    for (auto& one : all_)
        if (one.journal.wants_rewrite()) one.journal.rewrite(all);
}

void InvalidationJournals::when_written(WriteHandler done) {
    struct WriteProgress {
        std::atomic<std::size_t> left;
        std::atomic<bool> written;
        WriteHandler done;
    };
    const auto waited = std::make_shared<WriteProgress>(all_.size(), false, std::move(done));
    for (auto& one : all_)
        one.journal.when_written([waited](bool written) {
            if (written) waited->written = true;
            if (--waited->left == 0) waited->done(waited->written);
        });
}

std::vector<InvalidationJournals::Trouble> InvalidationJournals::trouble() const {
    std::vector<Trouble> found;
    for (const auto& one : all_)
        if (const auto error = one.journal.trouble()) found.push_back({one.directory, *error});
    return found;
}

}  // namespace proxy
