#include "proxy/upstream/false_hits.hpp"

#include <utility>

namespace proxy {

void FalseHits::note(std::string node, const summary::Key& key, Time announced_by) {
    if (watched_.size() >= kMaxWatched) watched_.pop_front();
    watched_.push_back({std::move(node), key.hash, std::string(key.uri), announced_by});
}

void FalseHits::judge(Time now, const Look& look, const Book& book) {
    while (!watched_.empty() && watched_.front().announced_by <= now) {
        const auto& first = watched_.front();
        switch (look(first.node, {first.hash, first.uri})) {
            case Withdrawal::no:
                book(first.node, Cause::collision);
                break;
            case Withdrawal::yes:
                book(first.node, Cause::withdrawn);
                break;
            case Withdrawal::unknown:
                break;
        }
        watched_.pop_front();
    }
}

}  // namespace proxy
