#include "proxy/request/response_from_store.hpp"

#include <string>
#include <utility>

#include "proxy/http/field_list.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/request/response_in_parts.hpp"
#include "proxy/rewrite/head_rewrite.hpp"

namespace proxy {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;

namespace {

/// The validators by which a client may know the response. The dates of a page stay when the links
/// in it lead elsewhere than before, because another mirror has moved; its tag does not.
Validators validators_for(const Request& request, Fields response) {
    auto validators = validators_of(response);
    const auto* const mirror = request.site.policy.mirror;
    if (mirror && mirror->links && link_syntax_of(response, request.key.path()))
        validators.last_modified = validators.date = {};
    return validators;
}

}  // namespace

bool not_modified(const Request& request, const StoredMetadata& response) {
    if (!is_conditional(request.head.fields)) return false;
    const auto fields = response.fields();
    return answers_not_modified(request.head.fields, response.status,
                                validators_for(request, fields), wall_now());
}

namespace {

/// The Range that applies to `response` (RFC 9110 §14.2), or none.
RangeRequest wanted_range(const Request& request, const StoredMetadata& response) {
    const auto& asked = request.head.fields;
    if (response.status != 200 || request.head.verb != verb::get || !find(asked, field::range))
        return {};
    const auto fields = response.fields();
    if (!if_range_allows(asked, validators_for(request, fields), wall_now())) return {};
    return range_request(asked);
}

/// With a status other than 206 and 416 the field means nothing (RFC 9110 §14.4) and is passed on
/// like any other. Beside the one of a part it would contradict that.
bool has_content_range(FieldBlock stored) {
    auto found = false;
    stored.each([&](std::string_view name, std::string_view) {
        found = found || iequals(name, "Content-Range");
    });
    return found;
}

}  // namespace

RangeAnswer wanted_part(const Request& request, const StoredMetadata& response,
                        std::optional<std::uint64_t> length) {
    if (!length) return {};
    return evaluate(wanted_range(request, response), *length);
}

WantedParts wanted_parts(const Request& request, const StoredMetadata& response,
                         std::uint64_t length) {
    const auto range = wanted_range(request, response);
    if (range.form != RangeRequest::Form::several) return {evaluate(range, length)};
    auto parts = evaluate_several(request.head.fields, length);
    if (!parts || length == 0) return {.names_several = true};
    if (parts->empty()) return {{RangeAnswer::Kind::unsatisfiable, {}}, true};
    if (parts->size() == 1) return {{RangeAnswer::Kind::part, parts->front()}, true};
    return {{}, true, std::move(*parts)};
}

void begin_response(Transaction& transaction, const StoredMetadata& response,
                    const LiveFields* live, std::optional<std::chrono::seconds> age,
                    const CacheStatus& status, const RangeAnswer& part,
                    std::optional<std::uint64_t> length) {
    if (part.kind != RangeAnswer::Kind::part) {
        transaction.begin(transaction.head(response.status, response.head_fields, length), live,
                          age, status);
        return;
    }
    auto& fields = transaction.writer.fields();
    fields.append("Content-Range: ");
    append_content_range(fields, {part.range, length});
    fields.append("\r\n");
    FieldBlock stored = response.head_fields;
    if (has_content_range(stored)) {
        for (const auto& line : stored)
            if (line.id != field::content_range) append_line(fields, line);
        stored = {};
    }
    transaction.begin(transaction.head(206, stored, part.range.size()), live, age, status);
}

namespace {

void note_hit(RequestStats& stats, Source stored_in) {
    stats.outcome = Outcome::local_hit;
    stats.source = stored_in;
}

std::chrono::seconds age_of(const Transaction& transaction, const StoredResponse& response) {
    return current_age(response.freshness, response.residence(transaction.stats.begun));
}

BodySender::What whole_body(const Transaction& transaction, const StoredResponse& response,
                            Source stored_in, summary::KeyHash key) {
    BodySender::What what;
    what.stored_as = key;
    what.stored_in = stored_in;
    what.bytes = transaction.request.head.verb == verb::head ? 0 : response.body_bytes();
    return what;
}

}  // namespace

bool goes_out_at_once(const Transaction& transaction, const StoredResponse& response) {
    const auto& asked = transaction.request.head.fields;
    return !response.blocks && !response.body->on_disk() && !is_conditional(asked) &&
           !find(asked, field::range);
}

std::unique_ptr<BodySender> respond_at_once(Transaction& transaction,
                                            const StoredResponse& response, Source stored_in,
                                            const CacheStatus& status, summary::KeyHash key) {
    note_hit(transaction.stats, stored_in);
    transaction.note_type(response);
    begin_response(transaction, response, nullptr, age_of(transaction, response), status, {},
                   response.body_bytes());
    BodySender sender(
        transaction,
        BodyReader(response, transaction.wakeup, transaction.service.cache.shared.windows),
        whole_body(transaction, response, stored_in, key));
    if (sender.send_now()) return nullptr;
    return std::make_unique<BodySender>(std::move(sender));
}

asio::awaitable<void> respond_from_store(Transaction& transaction, const StoredResponse& response,
                                         Source stored_in, const CacheStatus& status,
                                         summary::KeyHash key) {
    const auto& request = transaction.request;
    note_hit(transaction.stats, stored_in);
    const auto age = age_of(transaction, response);
    if (not_modified(request, response)) {
        co_await respond_not_modified(transaction, response, nullptr, age, status);
        co_return;
    }
    transaction.note_type(response);
    const auto size = response.body_bytes();
    auto parts = wanted_parts(request, response, size);
    if (!parts.several.empty()) {
        co_await respond_in_parts(transaction, response, std::move(parts.several), stored_in, age,
                                  nullptr, status);
        co_return;
    }
    const auto& part = parts.one;
    if (part.kind == RangeAnswer::Kind::unsatisfiable) {
        co_await respond_unsatisfiable(transaction, size, status);
        co_return;
    }
    begin_response(transaction, response, nullptr, age, status, part, size);
    BodyReader body(response, transaction.wakeup, transaction.service.cache.shared.windows);
    auto what = whole_body(transaction, response, stored_in, key);
    if (part.kind == RangeAnswer::Kind::part) {
        body.consume(part.range.first);
        what.bytes = part.range.size();
    }
    BodySender sender(transaction, std::move(body), what);
    if (!sender.send_now()) co_await sender.run();
}

asio::awaitable<void> respond_unsatisfiable(Transaction& transaction, std::uint64_t length,
                                            const CacheStatus& status) {
    std::string line("Content-Range: ");
    append_content_range(line, {std::nullopt, length});
    line.append("\r\n");
    co_await transaction.refuse(416, "No byte of that range is there.", status, line);
}

asio::awaitable<void> respond_not_modified(Transaction& transaction, const StoredMetadata& response,
                                           const LiveFields* live,
                                           std::optional<std::chrono::seconds> age,
                                           const CacheStatus& status) {
    const auto fields = response.fields();
    const auto has_etag = !validators_of(fields).etag.empty();
    auto& own = transaction.writer.fields();
    for (const auto& line : fields)
        if (belongs_in_304(line, has_etag)) append_line(own, line);
    transaction.begin(transaction.head(304, {}, std::nullopt), live, age, status);
    co_await transaction.send_head();
}

}  // namespace proxy
