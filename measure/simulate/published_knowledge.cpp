#include "measure/simulate/published_knowledge.hpp"

namespace measure {
namespace {

/// The configuration that a node would use.
protocol::Publisher::Config publisher_config(const SimulationConfig& config) {
    protocol::Publisher::Config result;
    result.summary.kind = config.kind;
    result.summary.error = summary::error_per_summary(config.false_hit_budget, config.proxies - 1);
    result.announce_changed = config.announce_changed;
    result.announce_delay = config.announce_delay;
    return result;
}

}  // namespace

PublishedKnowledge::PublishedKnowledge(const KnowledgeInputs& shared, Delivery delivery)
    : AnnouncedKnowledge(shared, delivery) {
    const auto config = publisher_config(shared.config);
    for (std::size_t i = 0; i < shared.config.proxies; ++i)
        proxies_.push_back({std::make_unique<protocol::Publisher>(config, shared.start),
                            config.summary.first_epoch});
}

void PublishedKnowledge::changed(std::size_t proxy, std::uint32_t object, bool is_stored,
                                 TimePoint now) {
    const auto entry = shared_.objects.entry(object);
    is_stored ? publisher(proxy).stored(entry, now) : publisher(proxy).removed(entry, now);
    see_to_announcement(proxy, now);
}

void PublishedKnowledge::awake(std::size_t proxy, TimePoint now) {
    proxies_[proxy].timed = false;
    see_to_announcement(proxy, now);
}

/// Announces if an announcement is due, otherwise schedules it.
void PublishedKnowledge::see_to_announcement(std::size_t index, TimePoint now) {
    auto& proxy = proxies_[index];
    auto due = proxy.publisher->announce_due();
    for (; due && *due <= now; due = proxy.publisher->announce_due()) {
        if (const auto announcement = proxy.publisher->announce(now))
            offer(index, *announcement, now);
        finish_work(index, now);
    }
    if (!due || proxy.timed) return;
    proxy.timed = true;
    wake(index, *due);
}

void PublishedKnowledge::finish_work(std::size_t index, TimePoint now) {
    auto& publisher = this->publisher(index);
    while (publisher.busy())
        if (const auto announcement = publisher.work()) offer(index, *announcement, now);
}

void PublishedKnowledge::set_error(std::size_t proxy, double error, TimePoint now) {
    publisher(proxy).set_error(error);
    finish_work(proxy, now);
}

void PublishedKnowledge::begin_anew(std::size_t index, TimePoint now) {
    auto& proxy = proxies_[index];
    auto config = publisher_config(shared_.config);
    config.summary.first_epoch = proxy.first_epoch += std::uint64_t{1} << 32;
    proxy.publisher = std::make_unique<protocol::Publisher>(config, now);
    announced_objects_.forget(index);
}

}  // namespace measure
