#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/narrowest_statements.hpp"
#include "proxy/http/received_head.hpp"
#include "proxy/http/storage_verdict.hpp"

namespace proxy {

// Redirects that this node follows for a rule with `follow_redirects`, and the fields of the final
// response under the first URL. No I/O, no clock.

/// The redirects that one request follows at most.
inline constexpr unsigned kMaxRedirects = 5;

/// The field of a followed response that tells its own URL from others: source_text() of it. It
/// travels with the response, also to peers. A validator says nothing about the content of another
/// URL, so it goes only to the URL that gave it.
inline constexpr std::string_view kSourceField = "Hearsay-Source";
/// The value of that field; empty: the response came from the URL of its request.
std::string_view source_of(Fields response);
/// 32 hex digits of a hash of the URL. Nobody can read the URL out of it.
std::string source_text(std::string_view url);

/// Statuses that send a GET to another place (RFC 9110 §15.4).
bool is_redirect(unsigned status);

/// The target of this redirect by its form: the URL that Location names. None for another status,
/// for several Locations, for a URL that cannot be requested, and for http behind https. None also
/// for a redirect with a cookie that `keeps_cookie` reserves for the client: it belongs to a
/// session. `at`: the URL that redirects.
std::optional<CacheKey> redirect_target(const Head& head, const CacheKey& at, bool keeps_cookie);

/// The verdict on a redirect without such a target: redirect_cookie or redirect_target.
StorageVerdict why_without_target(const Head& head, bool keeps_cookie);

/// True for a field that tells another host nothing about the client but what it can read: the
/// negotiation fields, User-Agent and Cache-Control. Any other field may be a credential.
bool may_go_to_another_host(const Field& line);

/// The redirects between a client's URL and a final response. The final response gets the narrowest
/// statements of all of them, so it lives under the first URL as if that had given it: the least
/// lifetime, each `no-store`, `private` and `no-cache`, sharing only if all permit it, and the
/// names of all Vary. One request; views into it last as long as it does.
class Redirects {
public:
    /// `rules`: of the first URL. The statements that its rule ignores are passed on like others.
    /// The final response gets the `redirect_fields` of the rule from the first redirect that has
    /// each of them.
    explicit Redirects(const CacheRules& rules);
    Redirects(const Redirects&) = delete;
    Redirects& operator=(const Redirects&) = delete;

    /// A redirect that is followed. `min_age`: of the rule for the URL to which it leads.
    void add(const ReceivedHead& redirect, std::optional<std::chrono::seconds> min_age = {});
    /// The final response, which came from `target`: a cache key, with the part of its query that
    /// the rules leave. `from_another`: from another scheme, host or port than those of the first
    /// URL.
    void end_at(const ReceivedHead& final, std::string_view target, bool from_another);
    /// The last redirect goes to the client, which follows it itself. `at`: the URL that gave it. A
    /// relative Location would lead from the first URL to another place. `why`: one of the verdicts
    /// on redirects.
    void end_unfollowed(const ReceivedHead& redirect, const CacheKey& at, StorageVerdict why);

    unsigned count() const { return count_; }
    /// Why the last redirect was left to the client; `store`: none was. Such a redirect stands for
    /// this client and this moment, so it is not stored.
    StorageVerdict why_left() const { return why_left_; }
    /// The final response brought cookies of another host, which are left out. Whether they matter
    /// is for the rule to say.
    bool dropped_cookies() const { return dropped_cookies_; }
    /// Every response states its lifetime.
    bool is_explicit() const { return narrowest_.is_explicit(); }
    /// The fields of the final response under the first URL.
    const std::vector<Field>& fields() const { return fields_; }

private:
    std::chrono::seconds take(const ReceivedHead& from) { return narrowest_.take(from, rules_); }

    CacheRules rules_;
    unsigned count_ = 0;
    std::vector<std::string> names_;  // `redirect_fields` that no redirect had so far
    std::deque<std::pair<std::string, std::string>> kept_;
    std::string source_;
    StorageVerdict why_left_ = StorageVerdict::store;
    bool dropped_cookies_ = false;
    std::vector<Field> fields_;
    std::string control_text_, location_text_, min_age_text_;
    NarrowestStatements narrowest_;
    std::optional<std::chrono::seconds> min_age_;  // the strictest of the rules
};

}  // namespace proxy
