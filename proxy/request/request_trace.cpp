#include "proxy/request/request_trace.hpp"

#include "proxy/http/field_list.hpp"
#include "proxy/request/peer_proof.hpp"

namespace proxy {

void begin_trace(Transaction& transaction) {
    auto& request = transaction.request;
    auto& requester = request.requester;
    auto trusted = false;
    if (find(request.head.fields, kTraceparent)) {
        requester.look(request.config(), request.head.fields);
        const auto& clients = request.config().tracing->trusted;
        trusted = (requester.is_known() && clients.contains(requester.address())) ||
                  proven_peer(transaction).has_value();
    }
    request.take_trace(trusted, transaction.service.shared.spans);
}

}  // namespace proxy
