#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "measure/trace/trace.hpp"

namespace measure {

/// Keeps each client's requests in the order of the log, one at a time. Requests are named by their
/// index in the trace and must be released in that order. One thread. Memory: 4 bytes per request,
/// 8 per client.
class ClientOrder {
public:
    explicit ClientOrder(const Trace& trace)
        : trace_(trace), next_(trace.requests.size(), kNone), clients_(trace.clients.size()) {
        std::vector<std::uint32_t> last(trace.clients.size(), kNone);
        for (std::uint32_t i = 0; i < trace.requests.size(); ++i) {
            std::uint32_t& before = last[trace.requests[i].client];
            if (before != kNone) next_[before] = i;
            before = i;
        }
    }

    /// Called when a request is due. Returns true if it may be sent now, false while an earlier one
    /// of its client is being sent.
    bool release(std::uint32_t request) {
        Client& client = clients_[trace_.requests[request].client];
        if (client.busy) {
            ++client.waiting;
            return false;
        }
        client.busy = true;
        return true;
    }

    /// Called when `request` is done. Returns the next released request of the same client, if any.
    std::optional<std::uint32_t> finished(std::uint32_t request) {
        Client& client = clients_[trace_.requests[request].client];
        if (client.waiting == 0) {
            client.busy = false;
            return std::nullopt;
        }
        --client.waiting;
        return next_[request];
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffff;
    struct Client {
        bool busy = false;
        std::uint32_t waiting = 0;
    };

    const Trace& trace_;
    std::vector<std::uint32_t> next_;
    std::vector<Client> clients_;
};

}  // namespace measure
