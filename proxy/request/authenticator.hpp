#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/async/awaited_value.hpp"
#include "base/tls/crypto.hpp"
#include "proxy/access/accounts.hpp"
#include "proxy/access/client_network.hpp"
#include "proxy/access/fair_queue.hpp"
#include "proxy/access/password_file.hpp"
#include "proxy/access/verified_passwords.hpp"

namespace proxy {

/// The judgement of a name with a password.
struct PasswordJudgement {
    enum class Word : std::uint8_t {
        right,
        wrong,
        busy,     // too many passwords wait for a check, or this one has waited for too long
        guesses,  // the client has sent too many wrong ones
    };
    Word word = Word::busy;
    bool checked = false;                 // against the hash, for this very request
    std::chrono::nanoseconds took{0};     // by that check
    std::chrono::nanoseconds again_in{};  // busy, guesses: the client may try again then
};

/// Checks passwords of a node's clients. A check takes 2 to 300 ms of a processor, so a thread of
/// its own makes one after the other, and VerifiedPasswords remembers the results. Requests with
/// the same credentials wait for one check together. The clients' networks have turns, and at most
/// kWaiting checks wait, so that guesses of one client delay others by one check at a time. A
/// network with many wrong passwords gets no check for a while; remembered results still count. An
/// unknown user costs a check of the costliest line in the file, and so does a wrong password of a
/// cheaper line, after the check of that line. So times do not tell who is known where all lines
/// cost alike. The thread starts with the first check. Any thread.
class Authenticator {
public:
    static constexpr std::size_t kWaiting = 256;         // checks
    static constexpr std::size_t kWaitersOfCheck = 256;  // requests
    static constexpr std::chrono::seconds kWaitAtMost{10};
    /// Wrong passwords of one network: so many at once, then one each second.
    static constexpr BucketRate kGuesses{1, 20};

    /// Makes the check; a test has another one.
    using Check = std::function<bool(const std::string& password, const std::string& hash)>;

    Authenticator();
    explicit Authenticator(Check check);
    ~Authenticator();
    Authenticator(const Authenticator&) = delete;
    Authenticator& operator=(const Authenticator&) = delete;

    /// Judges the credentials of a client at `from`. `users` lives during the call.
    boost::asio::awaitable<PasswordJudgement> judge(const PasswordFile& users, std::string user,
                                                    std::string password, ClientNetwork from,
                                                    boost::asio::any_io_executor executor);
    /// Ends the thread. Every later judgement is `busy`. The executors of all that wait still live.
    void close();

private:
    using Word = PasswordJudgement::Word;
    using Clock = std::chrono::steady_clock;
    using Reply = base::AwaitedValue<PasswordJudgement>;
    struct Job {
        base::Mac key;
        std::string password, hash;
        std::string costliest;  // hash of the file, if it takes longer than `hash`
        bool is_known = false;  // the user
        ClientNetwork from{};
        std::vector<std::shared_ptr<Reply>> waiters;
    };

    /// The judgement, if it is known at once; else `reply` gets it.
    std::optional<PasswordJudgement> ask(const PasswordFile& users, const std::string& user,
                                         std::string password, const ClientNetwork& from,
                                         const std::shared_ptr<Reply>& reply);
    void run();
    void answer(Job& job, bool right, std::chrono::nanoseconds took);

    const Check check_;
    std::mutex mutex_;
    std::condition_variable wake_;
    base::HmacSha256 hmac_;
    VerifiedPasswords verified_;
    Accounts guesses_;
    FairQueue<ClientNetwork, std::shared_ptr<Job>> queue_{kWaiting};
    std::map<base::Mac, std::shared_ptr<Job>> pending_;  // with the one that is checked
    std::thread thread_;
    bool closed_ = false;
};

}  // namespace proxy
