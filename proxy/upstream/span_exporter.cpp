#include "proxy/upstream/span_exporter.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text/json_string.hpp"
#include "proxy/telemetry/span.hpp"
#include "proxy/tls/tls_contexts.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds kFirstExportPause{1}, kLongestExportPause{30};
constexpr std::size_t kMaxAnswerBytes = 16 * 1024;  // a longer one is not read
constexpr std::chrono::hours kUntilASpan{24};       // a span ends it sooner

void append_text_attribute(std::string& out, std::string_view key, std::string_view text) {
    out.append("{\"key\":\"").append(key).append("\",\"value\":{\"stringValue\":");
    base::append_json_string(out, text);
    out.append("}}");
}

UpstreamTarget collector_of(const LoadedConfig& config) {
    const auto& url = config.tracing->endpoint;
    UpstreamTarget target;
    static_cast<HostPort&>(target) = url.place;
    if (url.tls) target.tls = config.trust->forward;
    return target;
}

/// The request is no part of a sampled trace. A node on the way to the collector, which may be this
/// one, makes no spans for it, or exports would cause exports without end.
std::string export_request(const Config& config, const std::vector<std::string>& spans) {
    const auto& url = config.tracing->endpoint;
    const auto body = export_body(config, spans);
    std::string out("POST ");
    out.append(url.path).append(" HTTP/1.1\r\nHost: ").append(url.authority);
    out.append("\r\nContent-Type: application/json\r\nUser-Agent: hearsay/" HEARSAY_VERSION);
    out.append("\r\nContent-Length: ").append(std::to_string(body.size()));
    out.append("\r\n");
    append_trace_line(out, {fresh_trace_id(), fresh_span_id(), false});
    return out.append("\r\n").append(body);
}

HeadLimits head_limits_of(const Config& config) {
    const auto& limits = config.limits;
    return {limits.request_line, limits.head, kHeadLines};
}

}  // namespace

std::string export_body(const Config& config, const std::vector<std::string>& spans) {
    std::string out;
    std::size_t bytes = 512;
    for (const auto& span : spans) bytes += span.size() + 1;
    out.reserve(bytes);
    out.append("{\"resourceSpans\":[{\"resource\":{\"attributes\":[");
    append_text_attribute(out, "service.name", config.tracing->service_name);
    out.push_back(',');
    append_text_attribute(out, "service.instance.id", config.node);
    out.push_back(',');
    append_text_attribute(out, "service.version", HEARSAY_VERSION);
    out.append("]},\"scopeSpans\":[{\"scope\":{\"name\":\"hearsay\",\"version\":");
    base::append_json_string(out, HEARSAY_VERSION);
    out.append("},\"spans\":[");
    for (const auto& span : spans) {
        if (&span != &spans.front()) out.push_back(',');
        out.append(span);
    }
    return out.append("]}]}]}");
}

std::chrono::seconds pause_after(unsigned failures) {
    constexpr unsigned kDoublings = 5;  // reach the longest
    const auto doublings = std::min(failures - std::min(failures, 1u), kDoublings);
    return std::min(kFirstExportPause * (1 << doublings), kLongestExportPause);
}

ExportResult export_result(FetchError error, unsigned status) {
    if (error != FetchError::none) return ExportResult::try_again;
    if (status >= 200 && status < 300) return ExportResult::taken;
    const auto passes = status == 429 || (status >= 502 && status <= 504);
    return passes ? ExportResult::try_again : ExportResult::refused;
}

std::uint64_t rejected_spans(std::string_view body, std::uint64_t sent) {
    const auto answer = nlohmann::json::parse(body, nullptr, false);
    if (!answer.is_object()) return 0;
    const auto partial = answer.find("partialSuccess");
    if (partial == answer.end() || !partial->is_object()) return 0;
    const auto count = partial->find("rejectedSpans");
    if (count == partial->end()) return 0;
    std::uint64_t rejected = 0;
    if (count->is_number_unsigned()) rejected = count->get<std::uint64_t>();
    if (count->is_string()) {  // a number of 64 bits is a string in the JSON of Protobuf
        for (const char c : count->get_ref<const std::string&>()) {
            if (c < '0' || c > '9') return 0;
            rejected = std::min(rejected * 10 + static_cast<std::uint64_t>(c - '0'), sent);
        }
    }
    return std::min(rejected, sent);
}

bool ExportTrouble::met(std::string_view endpoint, std::string_view why, Time now) {
    if (told_ && endpoint == endpoint_ && why == why_) return false;
    if (now < quiet_until_) return false;  // a later failure tells of it
    told_ = true;
    endpoint_ = endpoint;
    why_ = why;
    quiet_until_ = now + kPause;
    return true;
}

bool ExportTrouble::over(std::string_view endpoint) {
    return std::exchange(told_, false) && endpoint == endpoint_;
}

SpanExporter::SpanExporter(asio::any_io_executor io, const ConfigInEffect& in_effect,
                           SpanQueue& queue, base::MemoryBudget& windows)
    : settings_(in_effect),
      queue_(queue),
      wheel_(io),
      pool_(io, wheel_, in_effect, windows, handshakes_),
      wakeup_(std::make_shared<base::Wakeup>(io)),
      flushed_(std::make_shared<base::Wakeup>(io)),
      tasks_(io) {}

void SpanExporter::start() {
    queue_.on_news([wakeup = wakeup_] { wakeup->notify(); });
    follow_settings();
    tasks_.spawn(run());
}

void SpanExporter::follow_settings() {
    const auto& times = settings_->constants.spans;
    queue_.limit(settings_->tracing ? times.queue : 0, times.batch);
    not_before_ = {};
    failures_ = 0;
    wakeup_->notify();
}

void SpanExporter::stop() {
    if (std::exchange(stopped_, true)) return;
    tasks_.cancel();
    flushed_->notify();
    wheel_.stop();
    pool_.close_idle();
    queue_.dropped(std::exchange(batch_, {}).size());
    queue_.limit(0, 1);
}

asio::awaitable<void> SpanExporter::flush(Clock::time_point deadline) {
    if (!settings_->tracing || stopped_) co_return;
    flushing_ = true;
    not_before_ = {};
    wakeup_->notify();
    while (!stopped_ && flushing_ && (!batch_.empty() || queue_.size() > 0)) {
        const auto woken = co_await flushed_->wait_until(deadline);
        if (!woken) break;
    }
    flushing_ = false;
}

/// The time of the next request.
SpanExporter::Clock::time_point SpanExporter::next_try() const {
    const auto oldest = queue_.oldest();
    if (batch_.empty() && oldest == Clock::time_point::max()) return oldest;
    const auto is_due = flushing_ || !batch_.empty() || queue_.has_batch();
    const auto due = is_due ? Clock::time_point{} : oldest + settings_->constants.spans.delay;
    return std::max(due, not_before_);
}

asio::awaitable<void> SpanExporter::run() {
    while (!stopped_) {
        if (!settings_->tracing) queue_.dropped(std::exchange(batch_, {}).size());
        const auto now = Clock::now();
        const auto at = settings_->tracing ? next_try() : Clock::time_point::max();
        if (at > now) {
            co_await wakeup_->wait_until(std::min<Clock::time_point>(at, now + kUntilASpan));
            continue;
        }
        co_await send_batch();
        flushed_->notify();
    }
}

asio::awaitable<void> SpanExporter::send_batch() {
    if (batch_.empty()) batch_ = queue_.take();
    if (batch_.empty()) co_return;
    rejected_ = 0;
    const auto config = settings_.share();
    const auto result = co_await post(config);
    const auto count = batch_.size();
    if (result == ExportResult::try_again) {
        flushing_ = false;
        co_return;
    }
    batch_.clear();
    if (result == ExportResult::refused) {
        queue_.refused(count);
        co_return;
    }
    failures_ = 0;
    const auto& endpoint = config->tracing->endpoint.text;
    if (rejected_ > 0) {
        if (trouble_.met(endpoint, "partial success", Clock::now()))
            spdlog::warn(
                "tracing: {} has rejected {} of {} spans; these spans are lost; its log may say "
                "why",
                endpoint, rejected_, count);
    } else if (trouble_.over(endpoint)) {
        spdlog::info("tracing: {} takes spans again", endpoint);
    }
    queue_.refused(rejected_);
    queue_.sent(count - rejected_);
}

asio::awaitable<ExportResult> SpanExporter::post(
    const std::shared_ptr<const LoadedConfig>& config) {
    Exchange exchange(pool_, head_limits_of(*config));
    const auto timeout = config->constants.spans.timeout;
    const auto latest = Clock::now() + timeout;
    const auto target = collector_of(*config);
    const Exchange::Request request{export_request(*config, batch_), false, true};
    const Exchange::Patience patience{latest, timeout, latest};
    const auto error = co_await exchange.run(target, request, patience);
    const auto status = error == FetchError::none ? exchange.head().status : 0;
    const auto result = export_result(error, status);
    if (result == ExportResult::taken) {
        co_await read_answer(exchange, latest);
        co_return result;
    }
    const auto why = status == 0 ? std::string(to_string(error)) : std::to_string(status);
    const auto not_before = status == 0 ? std::nullopt : exchange.not_before();
    note_failure(*config, result, why, not_before);
    if (status != 0) co_await exchange.discard(latest);
    co_return result;
}

/// A 200 may say that some of the spans were not taken.
asio::awaitable<void> SpanExporter::read_answer(Exchange& exchange, Clock::time_point deadline) {
    std::string body;
    while (!exchange.done() && body.size() <= kMaxAnswerBytes) {
        const auto error = co_await exchange.read_body(deadline);
        if (error != FetchError::none) co_return;  // the head has said that they were taken
        for (const auto piece : exchange.pieces()) body.append(piece);
    }
    if (exchange.done()) rejected_ = rejected_spans(body, batch_.size());
    exchange.finish();
}

void SpanExporter::note_failure(const Config& config, ExportResult result, std::string_view why,
                                std::optional<Clock::time_point> not_before) {
    if (stopped_) return;
    queue_.failed();
    const auto now = Clock::now();
    const auto& endpoint = config.tracing->endpoint.text;
    if (trouble_.met(endpoint, why, now)) {
        if (result == ExportResult::refused)
            spdlog::warn(
                "tracing: {} refuses spans: {}; these spans are lost; see the path of "
                "tracing.endpoint",
                endpoint, why);
        else
            spdlog::warn(
                "tracing: {} does not take spans: {}; the node tries again, and drops spans when "
                "{} of them wait",
                endpoint, why, settings_->constants.spans.queue);
    }
    not_before_ = now + pause_after(++failures_);
    if (not_before) not_before_ = std::min(std::max(not_before_, *not_before), now + kMaxPause);
}

}  // namespace proxy
