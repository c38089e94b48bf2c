#include "proxy/request/upload_access.hpp"

#include <limits>

#include "proxy/access/client_network.hpp"

namespace proxy {

std::optional<UploadSlots::UploadSlot> take_upload_slot(Transaction& transaction,
                                                        const UpstreamTarget& origin) {
    const auto& config = transaction.config();
    const auto& address = transaction.request.requester.address();
    const auto most = config.clients.trusted_proxies.contains(address)
                          ? std::numeric_limits<std::size_t>::max()
                          : uploads_of_one(config.limits.upstream_connections);
    return transaction.service.upload_slots.take(client_network(address), origin.key, most);
}

boost::asio::awaitable<void> refuse_upload(Transaction& transaction) {
    const auto& request = transaction.request;
    transaction.note_refusal(RequestRefusal::over_uploads);
    auto status = kOwnAnswer;
    status.detail = to_string(RequestRefusal::over_uploads);
    auto text = request.requester.text();
    text.append(" has as many unfinished uploads to ").append(request.key.host());
    text.append(" as one client may have (half of limits.upstream_connections).");
    co_await transaction.refuse(429, text, status, FieldBlock("Retry-After: 1\r\n"));
}

}  // namespace proxy
