#include "proxy/request/authenticator.hpp"

#include <openssl/crypto.h>
#include <pthread.h>

#include <array>
#include <optional>
#include <utility>

#include "proxy/access/password_hash.hpp"
#include "proxy/http/basic_credentials.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds kAgainIn{1};

base::HmacSha256 keyed_by_chance() {
    std::array<std::byte, 32> key{};
    base::random_bytes(key);
    return base::HmacSha256(key);
}

void wipe(std::string& secret) {
    OPENSSL_cleanse(secret.data(), secret.size());
}

}  // namespace

Authenticator::Authenticator() : Authenticator(has_hash) {}

Authenticator::Authenticator(Check check) : check_(std::move(check)), hmac_(keyed_by_chance()) {}

Authenticator::~Authenticator() {
    close();
}

void Authenticator::close() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    const std::lock_guard lock(mutex_);
    queue_.clear();
    pending_.clear();
}

std::optional<PasswordJudgement> Authenticator::ask(const PasswordFile& users,
                                                    const std::string& user, std::string password,
                                                    const ClientNetwork& from,
                                                    const std::shared_ptr<Reply>& reply) {
    const auto* const known = users.hash_of(user);
    const auto& costliest = users.costliest_hash();
    const auto& hash = known ? *known : costliest;
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    constexpr std::string_view kEnd("\0", 1);
    const auto key =
        hmac_({base::bytes_of(user), base::bytes_of(kEnd), base::bytes_of(password),
               base::bytes_of(kEnd), base::bytes_of(known ? std::string_view(hash) : "")});
    if (const auto right = verified_.find(key, now))
        return PasswordJudgement{*right ? Word::right : Word::wrong};
    if (closed_) return PasswordJudgement{Word::busy, false, {}, kAgainIn};
    if (const auto under_way = pending_.find(key); under_way != pending_.end()) {
        auto& waiters = under_way->second->waiters;
        if (waiters.size() >= kWaitersOfCheck)
            return PasswordJudgement{Word::busy, false, {}, kAgainIn};
        waiters.push_back(reply);
        return std::nullopt;
    }
    const auto allowed_at = guesses_.open(key_of(from), now)->requests.ready_at(now, kGuesses);
    if (allowed_at > now) return PasswordJudgement{Word::guesses, false, {}, allowed_at - now};
    const auto job = std::make_shared<Job>();
    job->key = key;
    job->hash = hash;
    job->is_known = known != nullptr;
    if (check_cost(hash) < check_cost(costliest)) job->costliest = costliest;
    job->from = from;
    job->waiters.push_back(reply);
    if (!queue_.push(from, job)) return PasswordJudgement{Word::busy, false, {}, kAgainIn};
    job->password = std::move(password);
    pending_.emplace(key, job);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    wake_.notify_one();
    return std::nullopt;
}

asio::awaitable<PasswordJudgement> Authenticator::judge(const PasswordFile& users, std::string user,
                                                        std::string password, ClientNetwork from,
                                                        asio::any_io_executor executor) {
    auto reply = std::make_shared<Reply>(std::make_shared<base::Wakeup>(std::move(executor)));
    if (const auto known = ask(users, user, std::move(password), from, reply)) co_return *known;
    const auto in_time = co_await reply->wait_until(Clock::now() + kWaitAtMost);
    if (in_time) co_return reply->value();
    PasswordJudgement late;
    late.again_in = kAgainIn;
    co_return late;
}

void Authenticator::run() {
    ::pthread_setname_np(::pthread_self(), "passwords");
    for (;;) {
        std::shared_ptr<Job> job;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [this] { return closed_ || !queue_.empty(); });
            if (closed_) return;
            job = *queue_.pop();
        }
        const auto begun = Clock::now();
        auto same = false;
        try {
            same = check_(job->password, job->hash);
            // A wrong password of a cheap line says no sooner than that of an unknown user.
            if (!same && !job->costliest.empty()) check_(job->password, job->costliest);
        } catch (...) {
            same = false;  // without memory nobody is let in
        }
        wipe(job->password);
        answer(*job, same && job->is_known, Clock::now() - begun);
    }
}

void Authenticator::answer(Job& job, bool right, std::chrono::nanoseconds took) {
    PasswordJudgement judgement;
    judgement.word = right ? Word::right : Word::wrong;
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    verified_.put(job.key, right, now);
    if (!right) guesses_.open(key_of(job.from), now)->requests.take(now, kGuesses, 1);
    pending_.erase(job.key);
    judgement.checked = true;  // for the first alone
    judgement.took = took;
    for (const auto& waiter : job.waiters) {
        waiter->give(judgement);
        judgement.checked = false;
        judgement.took = {};
    }
    job.waiters.clear();
}

}  // namespace proxy
