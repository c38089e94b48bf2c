#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string_view>

#include "protocol/cluster_config.hpp"
#include "protocol/cluster_hooks.hpp"
#include "protocol/dialer.hpp"
#include "protocol/doorstep.hpp"
#include "protocol/hello.hpp"
#include "protocol/invalidation_log.hpp"
#include "protocol/keys.hpp"
#include "protocol/link_log.hpp"
#include "protocol/neighbourhood.hpp"
#include "protocol/publisher.hpp"
#include "protocol/resolver.hpp"

namespace protocol {

/// What all links of one node work on. Lives as long as any of them. Control thread only.
struct Shared {
    Shared(boost::asio::any_io_executor on, ClusterConfig configuration, ClusterHooks hooks);

    boost::asio::any_io_executor executor;
    ClusterConfig config;  // without an entry for ourselves
    Identity self;
    KeyRing keys;
    SubscriberHello::Rules rules;
    Publisher publisher;
    InvalidationLog invalidations;
    Neighbourhood neighbours;
    Doorstep doorstep;
    Resolver resolver;
    Dialer dialer;
    LinkLog log;
    ClusterHooks hooks;

    /// To be called when the publisher or the neighbourhood has work in slices. May be empty.
    std::function<void()> plan_work;

    /// Hands out the view if it has changed.
    void show_view();
};

Nonce fresh_nonce();

}  // namespace protocol
