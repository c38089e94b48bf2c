#include "proxy/client/frontend.hpp"

#include <sys/resource.h>

#include <limits>

namespace proxy {

std::uint64_t descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return std::numeric_limits<std::uint64_t>::max();
    return limit.rlim_cur;
}

Frontend::Frontend(SharedFrontend& all, Cache& behind,
                   const std::shared_ptr<const Config>& in_effect)
    : shared(all),
      cache(behind),
      upstream(behind.upstream),
      settings(in_effect),
      wheel(upstream.wheel),
      counters(upstream.counters),
      executor(upstream.executor) {}

void Frontend::retire() {
    retiring_ = true;
    for (auto* session : sessions_) session->retire();
}

void Frontend::drain() {
    begin_drain();
    for (auto* session : sessions_) session->drain();
}

void Frontend::add(Session& session) {
    session.index_ = sessions_.size();
    sessions_.push_back(&session);
    shared.high_water_mark.raise_to(shared.connections.fetch_add(1, std::memory_order_relaxed) + 1);
}

void Frontend::remove(Session& session) {
    sessions_[session.index_] = sessions_.back();
    sessions_[session.index_]->index_ = session.index_;
    sessions_.pop_back();
    shared.connections.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace proxy
