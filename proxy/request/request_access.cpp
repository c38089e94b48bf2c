#include "proxy/request/request_access.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "proxy/access/client_network.hpp"
#include "proxy/access/client_share.hpp"
#include "proxy/access/judge_destination.hpp"
#include "proxy/access/password_file.hpp"
#include "proxy/http/basic_credentials.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using Clock = std::chrono::steady_clock;

/// One refusal: its reason, status, text, and further fields.
struct AccessRefusal {
    RequestRefusal reason;
    unsigned status;
    std::string text;
    std::string fields = {};
};

std::string retry_field(std::uint64_t seconds) {
    return "Retry-After: " + std::to_string(seconds) + "\r\n";
}

AccessRefusal over_limit(ClientShare::Entered entered, Clock::time_point now,
                         const std::string& who, std::string_view setting) {
    const auto seconds = retry_after(entered.again_at, now);
    const auto is_rate = entered.over == OverLimit::rate;
    std::string text(who);
    text.append(is_rate ? " has sent more requests than it may"
                        : " has more requests and tunnels in progress than it may");
    text.append(" (clients.limits.").append(setting).append(is_rate ? ".requests" : ".connections");
    text.append("). The next one is taken in ").append(std::to_string(seconds)).append(" s.");
    return {is_rate ? RequestRefusal::over_rate : RequestRefusal::over_connections, 429,
            std::move(text), retry_field(seconds)};
}

AccessRefusal unproven(RequestRefusal reason, std::string text, const std::string& realm) {
    return {reason, 407, std::move(text), "Proxy-Authenticate: " + basic_challenge(realm) + "\r\n"};
}

/// The steps of one admission. Each returns a refusal, if there is one.
class AccessCheck {
public:
    explicit AccessCheck(Transaction& transaction)
        : transaction_(transaction), request_(transaction.request) {
        request_.share = std::make_unique<ClientShare>();
        if (request_.inside) request_.share->user = request_.inside->user;
    }

    std::optional<AccessRefusal> count_address() {
        const auto& clients = request_.config().clients;
        const auto& address = request_.requester.address();
        if (!clients.limits.per_address.any() || clients.trusted_proxies.contains(address))
            return std::nullopt;
        return count(shared().address_accounts, key_of(client_network(address)),
                     clients.limits.per_address, request_.requester.text(), "per_address");
    }

    std::optional<AccessRefusal> count_user() {
        const auto& limits = request_.config().clients.limits.per_user;
        const auto& user = request_.share->user;
        if (!limits.any() || user.empty()) return std::nullopt;
        return count(shared().user_accounts, user, limits, "The user " + user, "per_user");
    }

    asio::awaitable<std::optional<AccessRefusal>> authenticate() {
        // A reload has ended the authentication with which this request began.
        if (!users_in_effect())
            co_return AccessRefusal{RequestRefusal::unverified, 503,
                                    "The settings have just changed: ask again "
                                    "(forward.authentication).",
                                    retry_field(1)};
        if (request_.inside) co_return judge_user_inside();
        const auto settings = request_.settings;  // a reload may come during the wait
        const auto users = users_in_effect();
        const auto& authentication = *settings->forward.authentication;
        if (!may_carry_password(transaction_.connection.encrypted(),
                                transaction_.connection.from_this_host(), authentication.in_clear))
            co_return AccessRefusal{
                RequestRefusal::credentials_in_clear, 403,
                "This proxy takes passwords over TLS alone: a client reaches it by https:// at "
                "tls.listen (forward.authentication.in_clear)."};
        auto given = proxy_credentials(request_.head.fields);
        using State = ProxyCredentials::State;
        if (given.state == State::absent)
            co_return unproven(RequestRefusal::no_credentials,
                               "This proxy needs a name and a password (forward.authentication).",
                               authentication.realm);
        auto judgement = PasswordJudgement{PasswordJudgement::Word::wrong};
        if (given.state == State::given) {
            const auto from = client_network(request_.requester.address());
            judgement = co_await shared().authenticator.judge(
                *users, given.user, std::move(given.password), from, transaction_.service.executor);
            count(judgement);
        }
        if (judgement.word == PasswordJudgement::Word::right) {
            request_.share->user = std::move(given.user);
            request_.share->proven_by = users;
            co_return std::nullopt;
        }
        co_return refusal_of(judgement, authentication.realm);
    }

    /// The CONNECT has proven the user. It may have been removed, or got another password, since.
    std::optional<AccessRefusal> judge_user_inside() {
        const auto& inside = *request_.inside;
        const auto* const hash = users_in_effect()->hash_of(inside.user);
        if (hash && !inside.user.empty() && *hash == inside.user_hash) return std::nullopt;
        transaction_.connection.retire();
        return AccessRefusal{RequestRefusal::wrong_credentials, 403,
                             "The name and password of the CONNECT are not valid any more "
                             "(forward.authentication): connect again."};
    }

    std::optional<AccessRefusal> judge_place(const AccessTarget& place) const {
        const auto why =
            why_not_destination(request_.config().forward.destinations, place.host, place.port);
        if (why.empty()) return std::nullopt;
        return AccessRefusal{RequestRefusal::destination_denied, 403,
                             "This proxy does not let requests through to " +
                                 std::string(place.host) + " (forward.destinations, " + why + ")."};
    }

    /// Null: the configuration in effect has none.
    const std::shared_ptr<const PasswordFile>& users_in_effect() const {
        return transaction_.service.settings.files().users;
    }

private:
    SharedClientState& shared() { return transaction_.service.shared; }

    std::optional<AccessRefusal> count(Accounts& accounts, const std::string& key,
                                       const ClientAllowance& limits, const std::string& who,
                                       std::string_view setting) {
        const auto now = Clock::now();
        const auto entered = request_.share->enter(accounts.open(key, now), limits, now);
        if (entered.over == OverLimit::none) return std::nullopt;
        return over_limit(entered, now, who, setting);
    }

    void count(const PasswordJudgement& judgement) {
        using Word = PasswordJudgement::Word;
        auto& counters = transaction_.service.counters;
        if (judgement.checked)
            ++counters.passwords_checked;
        else if (judgement.word == Word::right || judgement.word == Word::wrong)
            ++counters.passwords_remembered;
        counters.password_check_us += static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::microseconds>(judgement.took).count());
    }

    AccessRefusal refusal_of(const PasswordJudgement& judgement, const std::string& realm) const {
        const auto seconds = retry_after(Clock::time_point(judgement.again_in), {});
        switch (judgement.word) {
            case PasswordJudgement::Word::busy:
                return {RequestRefusal::unverified, 503,
                        "Too many passwords wait for a check (forward.authentication).",
                        retry_field(seconds)};
            case PasswordJudgement::Word::guesses:
                return {RequestRefusal::over_guesses, 429,
                        request_.requester.text() +
                            " has sent too many wrong passwords (forward.authentication).",
                        retry_field(seconds)};
            default:
                return unproven(RequestRefusal::wrong_credentials,
                                "Name or password is wrong (forward.authentication).", realm);
        }
    }

    Transaction& transaction_;
    Request& request_;
};

}  // namespace

asio::awaitable<bool> admit_request(Transaction& transaction, AccessTarget place) {
    auto& request = transaction.request;
    AccessCheck admission(transaction);
    const auto authenticates = place.forward && request.config().authenticates();
    auto refusal = admission.count_address();
    if (!refusal && authenticates) refusal = co_await admission.authenticate();
    if (!refusal) refusal = admission.count_user();
    if (!refusal && place.forward) refusal = admission.judge_place(place);
    std::erase_if(request.head.fields,
                  [](const Field& line) { return line.id == field::proxy_authorization; });
    if (refusal) {
        transaction.note_refusal(refusal->reason);
        auto status = kOwnAnswer;
        status.detail = to_string(refusal->reason);
        co_await transaction.refuse(refusal->status, refusal->text, status, refusal->fields);
        co_return false;
    }
    const auto goes_on = co_await transaction.wait_for_bandwidth();
    co_return goes_on;
}

}  // namespace proxy
