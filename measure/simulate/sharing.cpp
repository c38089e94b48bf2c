#include "measure/simulate/sharing.hpp"

namespace measure {
namespace {

/// What is there is known at once: what ICP finds out by asking everybody.
class Truth final : public Sharing {
public:
    explicit Truth(const Holders& holders) : holders_(holders) {}

    void advance(TimePoint) override {}
    void stored(std::size_t, std::uint32_t, TimePoint) override {}
    void removed(std::size_t, std::uint32_t, TimePoint) override {}
    void restarted(std::size_t, TimePoint) override {}
    summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) override {
        return holders_.of(object) - summary::PeerSet{static_cast<unsigned>(proxy)};
    }
    bool was_told(std::size_t, std::size_t, std::uint32_t) const override { return true; }
    Announced announced() const override { return {}; }
    std::uint64_t summary_bytes() const override { return 0; }

private:
    const Holders& holders_;
};

}  // namespace

std::unique_ptr<Sharing> make_sharing(const SimulationConfig& config, const Objects&,
                                      const Holders& holders, Sharing::TimePoint) {
    switch (config.scheme) {
        case Scheme::icp:
            return std::make_unique<Truth>(holders);
        default:
            return nullptr;
    }
}

}  // namespace measure
