#include "measure/tiers/simulate_tiers.hpp"

#include <memory>
#include <stdexcept>

#include "measure/simulate/caches.hpp"
#include "measure/tiers/ordered_disk.hpp"
#include "measure/tiers/record_bytes.hpp"
#include "measure/tiers/segmented_disk.hpp"
#include "proxy/disk/admission_filter.hpp"

namespace measure {
namespace {

constexpr std::size_t kRequestsBetweenReports = 8192;
constexpr std::uint64_t kLeastWindow = 64;  // a node's is longer than most logs

void check(const TiersConfig& config) {
    if (config.memory_bytes == 0) throw std::invalid_argument("there must be some memory");
    if (!(config.warm_up >= 0 && config.warm_up < 1))
        throw std::invalid_argument("the warm-up must be a part of the requests, below 1");
}

SimulationConfig memory_of(const TiersConfig& config) {
    SimulationConfig memory;
    memory.scheme = Scheme::none;
    memory.proxies = 1;
    memory.cache_bytes = config.memory_bytes;
    memory.replacement = config.replacement;
    memory.unit_objects = config.unit_objects;
    memory.object_max = config.object_max;
    return memory;
}

class TiersSimulation {
public:
    TiersSimulation(const Trace& trace, const TiersConfig& config)
        : trace_(trace),
          config_(config),
          memory_config_(memory_of(config)),
          objects_(trace,
                   {config.unknown_bytes, config.unit_objects, summary::kDefaultKind, config.seed}),
          record_bytes_(measure::record_bytes(objects_, config.unit_objects)),
          memory_(memory_config_, objects_) {
        if (config.disk_bytes > 0) disk_ = make_disk();
    }

    TierCounts run(const std::function<bool(double)>& progress) {
        const auto total = trace_.requests.size();
        const auto warm = static_cast<std::size_t>(config_.warm_up * static_cast<double>(total));
        std::uint64_t written_again_before = 0;
        for (std::size_t i = 0; i < total; ++i) {
            if (progress && i % kRequestsBetweenReports == 0 &&
                !progress(static_cast<double>(i) / static_cast<double>(total)))
                break;
            if (i == warm) {
                counts_ = {};
                if (disk_) written_again_before = disk_->written_again_bytes();
            }
            serve(trace_.requests[i]);
        }
        if (disk_)
            counts_.written_again_bytes = disk_->written_again_bytes() - written_again_before;
        return counts_;
    }

private:
    std::unique_ptr<SimulatedDisk> make_disk() const {
        switch (config_.disk) {
            case DiskOrder::segments:
            case DiskOrder::fifo:
                return std::make_unique<SegmentedDisk>(config_.disk_bytes, record_bytes_,
                                                       config_.disk == DiskOrder::segments);
            case DiskOrder::lru:
            case DiskOrder::gdsf:
                break;
        }
        const auto order = config_.disk == DiskOrder::lru ? Replacement::lru : Replacement::gdsf;
        return std::make_unique<OrderedDisk>(config_.disk_bytes, record_bytes_,
                                             make_eviction_order(order, objects_));
    }

    void serve(const LoggedRequest& request) {
        const auto object = trace_.urls[request.url].object;
        const auto bytes = request.method == kHead ? 0 : objects_.bytes(object);
        ++counts_.requests;
        counts_.bytes += bytes;
        if (request.method != kGet && request.method != kHead) return;
        const bool in_memory = memory_.has(0, object);
        const bool on_disk = disk_ && disk_->has(object);
        if (on_disk) disk_->use(object);
        if (in_memory) {
            memory_.use(0, object);
            ++counts_.memory_hits;
            counts_.memory_hit_bytes += bytes;
            if (disk_ && !on_disk && config_.admission == proxy::DiskAdmission::second_request)
                write(object);
        } else if (on_disk) {
            ++counts_.disk_hits;
            counts_.disk_hit_bytes += bytes;
            store_in_memory(object);
        } else if (request.method == kGet) {
            store_in_memory(object);
            if (disk_ && is_admitted(object)) write(object);
        }
    }

    void store_in_memory(std::uint32_t object) {
        if (memory_.may_hold(object))
            memory_.store(0, object, proxy::SentBy::origin, [](std::uint32_t) {});
    }
    bool is_admitted(std::uint32_t object) {
        if (config_.admission == proxy::DiskAdmission::always) return true;
        const bool has_room =
            disk_->used_bytes() <
            config_.disk_bytes - config_.disk_bytes / proxy::AdmissionFilter::kRoomPart;
        return second_request_.admits(objects_.hash(object), has_room, disk_->objects());
    }
    void write(std::uint32_t object) {
        const auto bytes = record_bytes_[object];
        if (bytes * Caches::kLargestShare > config_.disk_bytes && !config_.unit_objects) return;
        if (config_.object_max > 0 && objects_.bytes(object) > config_.object_max) return;
        disk_->write(object);
        ++counts_.admitted;
        counts_.admitted_bytes += bytes;
    }

    const Trace& trace_;
    const TiersConfig config_;
    const SimulationConfig memory_config_;
    const Objects objects_;
    const std::vector<std::uint64_t> record_bytes_;
    Caches memory_;
    std::unique_ptr<SimulatedDisk> disk_;
    proxy::AdmissionFilter second_request_{kLeastWindow};
    TierCounts counts_;
};

}  // namespace

TierCounts simulate_tiers(const Trace& trace, const TiersConfig& config,
                          const std::function<bool(double)>& progress) {
    check(config);
    return TiersSimulation(trace, config).run(progress);
}

}  // namespace measure
