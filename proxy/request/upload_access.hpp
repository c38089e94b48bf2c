#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>

#include "proxy/request/transaction.hpp"
#include "proxy/request/upload_slots.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// A slot for the upload of this request to `origin`. None: the client has too many unfinished ones
/// there. The address of a trusted proxy stands for many clients, so its slots are unbounded.
std::optional<UploadSlots::UploadSlot> take_upload_slot(Transaction& transaction,
                                                        const UpstreamTarget& origin);

/// Answers 429 and counts the refusal.
boost::asio::awaitable<void> refuse_upload(Transaction& transaction);

}  // namespace proxy
