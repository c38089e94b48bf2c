#include "measure/tiers/tiers_study.hpp"

#include <fmt/format.h>

#include "measure/report/numbers.hpp"
#include "measure/study/scheme_name.hpp"
#include "measure/tiers/simulate_tiers.hpp"
#include "measure/tiers/tiers_name.hpp"

namespace measure {
namespace {

/// The orders that work for a single proxy.
constexpr Replacement kAlone[] = {Replacement::s3_fifo, Replacement::lru, Replacement::sieve,
                                  Replacement::w_tiny_lfu, Replacement::gdsf};

TiersGroup each_order(TiersGroup::Topic about, TiersConfig config) {
    TiersGroup out{about, {}};
    for (const auto each : kAlone) {
        config.replacement = each;
        out.rows.push_back({std::string(name(each)), config, {}});
    }
    return out;
}

TiersGroup each_disk(TiersConfig config) {
    TiersGroup out{TiersGroup::Topic::disk, {}};
    for (const auto disk : kDiskOrders)
        for (const auto admission : kAdmissions) {
            config.disk = disk;
            config.admission = admission;
            out.rows.push_back(
                {fmt::format("{}, {}", name(disk), to_string(admission)), config, {}});
        }
    return out;
}

/// The node's disk behind the node's memory, if that row was run.
const TierCounts* segments_with(const TiersTable& table, proxy::DiskAdmission admission) {
    for (const auto& group : table.groups)
        for (const auto& row : group.rows)
            if (row.config.disk_bytes > 0 && row.config.replacement == Replacement::s3_fifo &&
                row.config.disk == DiskOrder::segments && row.config.admission == admission &&
                row.counts)
                return &*row.counts;
    return nullptr;
}

}  // namespace

const TierCounts* TiersTable::as_nodes() const {
    return segments_with(*this, proxy::DiskAdmission::second_request);
}

const TierCounts* TiersTable::everything() const {
    return segments_with(*this, proxy::DiskAdmission::always);
}

double writes_saved(const TierCounts& counts, const TierCounts& everything) {
    if (everything.written_bytes() == 0) return 0;
    return 1 - ratio(counts.written_bytes(), everything.written_bytes());
}

TiersStudy plan_tiers(const LogFacts& log, std::vector<CacheSize> sizes, const CacheSize& memory,
                      const TiersConfig& base) {
    if (sizes.empty())
        for (const double part : kUsualDiskParts) sizes.push_back({0, part});
    TiersStudy study;
    study.log = log;
    for (const auto& size : sizes) {
        TiersTable table;
        table.disk = size;
        table.disk_bytes = size.of_each(base.unit_objects ? log.objects : log.distinct_bytes, 1);
        table.memory_bytes = memory.of_each(table.disk_bytes, 1);
        auto alone = base, tiers = base;
        alone.memory_bytes = table.disk_bytes;
        alone.disk_bytes = 0;
        tiers.memory_bytes = table.memory_bytes;
        tiers.disk_bytes = table.disk_bytes;
        table.groups = {each_order(TiersGroup::Topic::one_cache, alone),
                        each_order(TiersGroup::Topic::memory, tiers), each_disk(tiers)};
        study.tables.push_back(std::move(table));
    }
    return study;
}

void run_tiers(const Trace& trace, TiersStudy& study, unsigned jobs,
               const std::function<bool(const StudyProgress&)>& progress) {
    std::vector<TiersRow*> rows;
    for (auto& table : study.tables)
        for (auto& group : table.groups)
            for (auto& row : group.rows) rows.push_back(&row);
    const auto simulate_row = [&](std::size_t at, const Step& step) {
        const auto counts = simulate_tiers(trace, rows[at]->config, step);
        if (step(1)) rows[at]->counts = counts;
    };
    if (!run_parts(rows.size(), jobs, simulate_row, progress)) study.stopped = true;
}

}  // namespace measure
