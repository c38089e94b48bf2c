#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string_view>

#include "protocol/cluster_config.hpp"
#include "protocol/hello.hpp"
#include "protocol/keys.hpp"
#include "protocol/link_log.hpp"
#include "protocol/neighbourhood.hpp"
#include "protocol/publisher.hpp"
#include "protocol/resolver.hpp"

namespace protocol {

/// What all links of one node work on. Lives as long as any of them. Control thread only.
struct Shared {
    Shared(boost::asio::any_io_executor on, ClusterConfig configuration,
           std::function<void(std::shared_ptr<const PeerView>)> view_changed);

    boost::asio::any_io_executor executor;
    ClusterConfig config;  // without an entry for ourselves
    Identity self;
    KeyRing keys;
    SubscriberHello::Rules rules;
    Publisher publisher;
    Neighbourhood neighbours;
    Resolver resolver;
    LinkLog log;
    std::function<void(std::shared_ptr<const PeerView>)> on_view;

    /// Hands out the view if it has changed.
    void show_view();
};

Nonce fresh_nonce();

}  // namespace protocol
