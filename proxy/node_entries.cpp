#include "proxy/node_entries.hpp"

#include <span>

namespace proxy {

NodeEntries::NodeEntries(boost::asio::io_context& control,
                         const std::unique_ptr<protocol::Cluster>& cluster, summary::Kind kind)
    : cluster_(cluster), kind_(kind), changes_(control, [this](std::span<const Change> changes) {
          for (const auto& [entry, stored] : changes)
              stored ? cluster_->stored(entry) : cluster_->removed(entry);
      }) {}

void NodeEntries::tell(summary::KeyHash key, bool stored) {
    changes_.push({entry_of(kind_, {key, {}}), stored});
}

void NodeEntries::begin_fill() {
    filling_ = true;
    cluster_->begin_import();
}

bool NodeEntries::end_fill(bool loading) {
    if (!filling_ || loading) return false;
    if (!found_) found_ = changes_.pushed();
    if (changes_.consumed() < *found_) return false;
    filling_ = false;
    cluster_->end_import();
    return true;
}

}  // namespace proxy
