#include "proxy/blocklists/blocklists.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/blocklists/normal_url.hpp"
#include "proxy/http/path_readings.hpp"

namespace proxy {
namespace {

/// Nearly all hosts have fewer labels.
constexpr std::size_t kNamesAtOnce = 6;

}  // namespace

Blocklists::Blocklists(std::vector<BlocklistFacts> lists, const summary::KeyHasher& hasher,
                       std::unique_ptr<EntryIndex> index, unsigned least_labels)
    : lists_(std::move(lists)),
      hasher_(hasher),
      index_(std::move(index)),
      least_labels_(least_labels) {}

/// Asks for the host, then for each domain above it. A host has at most 255 bytes, so at most 128
/// names are asked for. The memory is asked for several of them before the first answer is read.
ListedTarget Blocklists::find(std::string_view host, std::optional<std::string_view> path) const {
    std::string buffer;
    const auto normal = normal_host(host, buffer);
    LookupInput asked{normal.text, path};
    auto labels = normal.is_address
                      ? kMaxLabels
                      : 1 + static_cast<unsigned>(std::ranges::count(normal.text, '.'));
    auto name = normal.text;
    auto has_more = labels >= least_labels_;
    while (has_more) {
        std::array<Query, kNamesAtOnce> names;
        std::size_t count = 0;
        while (has_more && count < names.size()) {
            names[count] = query(name);
            const auto dot = normal.is_address ? std::string_view::npos : name.find('.');
            has_more = dot != std::string_view::npos && --labels >= least_labels_;
            if (has_more) name.remove_prefix(dot + 1);
            if (has_more || count > 0) index_->prefetch(names[count].hash);
            ++count;
        }
        for (std::size_t i = 0; i < count; ++i)
            if (ask_name(names[i], asked)) return std::move(asked.result);
    }
    for (const auto& inner : embedded_hosts(normal)) {
        asked.host = inner;
        if (ask_name(query(inner), asked)) break;
    }
    return std::move(asked.result);
}

bool Blocklists::any_refuses() const {
    return std::ranges::any_of(lists_, [](const BlocklistFacts& list) {
        return list.config.action == BlocklistAction::refuse;
    });
}

std::vector<std::string> Blocklists::faults() const {
    const std::lock_guard lock(faults_mutex_);
    auto faults = faults_;
    faults.resize(lists_.size());
    return faults;
}

void Blocklists::note_faults(std::vector<std::string> faults) const {
    const std::lock_guard lock(faults_mutex_);
    faults_ = std::move(faults);
}

std::string Blocklists::place(ListedAt entry) const {
    return lists_[entry.list].config.path + ", line " + std::to_string(entry.line);
}

Blocklists::Query Blocklists::query(std::string_view text) const {
    return {text, hasher_(text).high};
}

/// Asks filter and file for a text, and counts both.
template <class Take>
void Blocklists::look_up(const Query& query, ListedTarget& result, const Take& take) const {
    ++result.queries;
    if (!index_->may_have(query.hash)) return;
    ++result.positives;
    auto is_confirmed = false;
    const auto error = index_->each(query.hash, query.text, [&](const EntryRecord& entry) {
        is_confirmed = true;
        take(entry);
    });
    if (is_confirmed) ++result.confirmed;
    if (!error) return;
    ++result.unreadable;
    result.error = error;
}

void Blocklists::take(const EntryRecord& entry, ListedTarget& result) const {
    if (entry.list >= lists_.size()) return;
    const auto refuses = lists_[entry.list].config.action == BlocklistAction::refuse;
    auto& first = refuses ? result.refused : result.logged;
    if (!first) first = ListedAt{entry.list, entry.line};
}

/// True if the target is refused, so that nothing more need be asked.
bool Blocklists::ask_name(const Query& name, LookupInput& asked) const {
    std::vector<EntryRecord> with_paths;
    look_up(name, asked.result, [&](const EntryRecord& entry) {
        if (entry.kind == EntryKind::domain ||
            (entry.kind == EntryKind::host && name.text.size() == asked.host.size()))
            take(entry, asked.result);
        if (entry.kind == EntryKind::url_host) with_paths.push_back(entry);
    });
    if (!with_paths.empty() && asked.path && !asked.result.refused) ask_paths(name.text, asked);
    if (!asked.has_all_urls)
        for (const auto& entry : with_paths) take(entry, asked.result);
    return asked.result.refused.has_value();
}

/// Asks for every reading of the path.
void Blocklists::ask_paths(std::string_view name, LookupInput& asked) const {
    if (asked.urls.empty()) {
        const auto path = asked.path->substr(0, asked.path->find('?'));
        append_normal_path(asked.urls.emplace_back(), *asked.path);
        if (!has_one_reading(path)) {
            const PathReadings readings(path);
            asked.has_all_urls = readings.complete;
            for (auto form : readings.forms)
                append_normal_path(asked.urls.emplace_back(),
                                   form.append(asked.path->substr(path.size())));
        }
    }
    for (const auto& url : asked.urls) {
        if (asked.result.refused) return;
        ask_url(name, url, asked);
    }
}

/// Asks for each beginning of the path that an entry could be.
void Blocklists::ask_url(std::string_view name, std::string_view path, LookupInput& asked) const {
    std::string buffer(name);
    const std::string_view url = buffer.append(path);
    std::size_t boundaries = 0;
    for (auto end = name.size() + 1; end <= url.size() && boundaries <= kMaxPathBoundaries; ++end) {
        if (end < url.size() && !is_path_boundary(url[end])) continue;
        ++boundaries;
        look_up(query(url.substr(0, end)), asked.result, [&](const EntryRecord& entry) {
            if (entry.kind == EntryKind::url) take(entry, asked.result);
        });
        if (asked.result.refused) return;
    }
}

}  // namespace proxy
