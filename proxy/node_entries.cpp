#include "proxy/node_entries.hpp"

namespace proxy {

void NodeEntries::apply(std::span<const KeyChange> changes) {
    for (const auto& [key, stored] : changes) {
        const auto entry = entry_of(kind_, {key, {}});
        stored ? cluster_->stored(entry) : cluster_->removed(entry);
    }
}

void NodeEntries::begin_import() {
    importing_ = true;
    cluster_->begin_import();
}

bool NodeEntries::end_import(bool loading) {
    if (!importing_ || loading) return false;
    if (!found_) found_ = queue_.changes_pushed();
    if (queue_.changes_delivered() < *found_) return false;
    importing_ = false;
    cluster_->end_import();
    return true;
}

}  // namespace proxy
