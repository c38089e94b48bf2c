#include "proxy/node/dashboard_data.hpp"

#include <filesystem>
#include <utility>

#include "proxy/node/worker_questions.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::minutes kErrorsWithin{5};  // of ReportedNumbers::errors_5m

std::uint64_t microseconds(float ms) {
    return ms < 0 ? 0 : static_cast<std::uint64_t>(ms * 1000);
}

/// A killed process loses so much of its history at most.
constexpr std::chrono::minutes kSavedEvery{10};

std::vector<std::filesystem::path> directories_of(const Config& config) {
    std::vector<std::filesystem::path> directories;
    for (const auto& disk : config.cache.disk) directories.emplace_back(disk.path);
    return directories;
}

/// Most frequent URLs and clients of one worker.
struct TopOfWorker {
    std::vector<SpaceSaving::Entry> urls, clients;
};

}  // namespace

DashboardData::DashboardData(asio::io_context& control,
                             const std::vector<std::unique_ptr<Worker>>& workers,
                             const ConfigInEffect& settings,
                             std::shared_ptr<const RecentErrors> errors)
    : control_(control),
      workers_(workers),
      settings_(settings),
      errors_(std::move(errors)),
      file_(directories_of(*settings)) {
    const auto now = clocks_now();
    const auto earlier = file_.load(now);
    if (!earlier) return;
    for (const auto span : kSpans)
        history_.restore(span, (*earlier)[static_cast<std::size_t>(span)], now.steady);
}

void DashboardData::close() {
    file_.close();
    if (std::exchange(is_closed_, true) || !file_.is_used()) return;
    file_.write(encode_history(history_, clocks_now()));
}

void DashboardData::sample(const WorkerCounters& counters) {
    const auto now = clocks_now();
    history_.add(totals_of(counters), now.steady);
    if (!file_.is_used() || now.steady - saved_at_ < kSavedEvery) return;
    saved_at_ = now.steady;
    file_.save(encode_history(history_, now));
}

NodeReport DashboardData::report(const NodeStatus& status) const {
    const auto errors =
        history_.recent(Outcome::error, kErrorsWithin, std::chrono::steady_clock::now());
    auto report = report_of(status, errors);
    report.numbers.p50_us = microseconds(history_.minute_quantile_ms(0.5));
    report.numbers.p99_us = microseconds(history_.minute_quantile_ms(0.99));
    return report;
}

asio::awaitable<SiteTotals> DashboardData::sites() const {
    auto asking = ask_workers<SiteTotals>(control_, workers_, [](const Worker& worker) {
        auto totals = worker.service.site_counts.totals();
        const auto now = std::chrono::steady_clock::now();
        for (const auto& [site, answers] : worker.upstream.origin_answers.by_site(now)) {
            SiteTotals of_origin;
            of_origin.sites[site].origin = answers.total;
            totals += of_origin;
        }
        return totals;
    });
    const auto counts = co_await std::move(asking);
    SiteTotals sum;
    for (const auto& each : counts) sum += each;
    co_return sum;
}

asio::awaitable<TopLists> DashboardData::top() const {
    auto asking = ask_workers<TopOfWorker>(control_, workers_, [](const Worker& worker) {
        const auto& top = worker.service.top;
        return TopOfWorker{top.urls(), top.clients()};
    });
    const auto replies = co_await std::move(asking);
    std::vector<std::vector<SpaceSaving::Entry>> urls, clients;
    for (const auto& reply : replies) {
        urls.push_back(reply.urls);
        clients.push_back(reply.clients);
    }
    TopLists lists;
    const auto& admin = settings_->admin;
    lists.has_urls = admin && admin->top_urls != TopUrls::off;
    lists.has_clients = admin && admin->top_clients;
    if (lists.has_urls) lists.urls = merged(urls, TopRequests::kShown);
    if (lists.has_clients) lists.clients = merged(clients, TopRequests::kShown);
    co_return lists;
}

std::vector<RecentErrors::Line> DashboardData::errors() const {
    return errors_ ? errors_->lines() : std::vector<RecentErrors::Line>();
}

}  // namespace proxy
