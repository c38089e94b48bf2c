#pragma once

#include <bitset>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/glob.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The requests that a rule is for. An empty list stands for all.
struct RuleMatch {
    std::vector<Glob> hosts;           // lower case, without a port
    std::vector<Glob> paths;           // without the query; see path_readings.hpp
    std::vector<std::string> methods;  // a HEAD counts as a GET
};

/// The statements of an origin that a rule leaves out of account.
struct IgnoredDirectives {
    bool no_store = false, is_private = false, no_cache = false, set_cookie = false, vary = false;

    bool any() const { return no_store || is_private || no_cache || set_cookie || vary; }
    bool operator==(const IgnoredDirectives&) const = default;
};

/// The part of a rule that decides whether a response is stored, and how long it lives. All spans
/// count from the response's arrival at the first node of the cluster.
struct StoringRule {
    /// The lifetime of responses with a status, in place of the origin's. Sorted by status.
    std::vector<std::pair<unsigned, std::chrono::seconds>> fresh_for;
    std::optional<std::chrono::seconds> at_least, at_most;
    std::optional<std::chrono::seconds> stale_while_revalidate, stale_if_error;
    std::vector<unsigned> stale_on;  // statuses of the origin that count as its failure, sorted
    bool immutable = false;          // fresh for ever, also for clients that reload
    /// The origin authorizes each client: a stored response answers a request only after the origin
    /// has confirmed its ETag for this very request.
    bool authorize = false;
    bool share_authorized = false;  // responses to requests with Authorization are for all
    /// The node follows redirects of a GET, and stores the final response: redirects.hpp.
    bool follow_redirects = false;
    /// Fields that the final response gets from the first redirect that has them. Sorted.
    std::vector<std::string> redirect_fields;
    IgnoredDirectives ignored;
    /// Request fields that select a stored response as the names in Vary do, and that are a part of
    /// the key so. In lower case, sorted.
    std::vector<std::string> key_fields;

    /// `name` is among `key_fields`, in any letter case.
    bool keys_by(std::string_view name) const;
    std::optional<std::chrono::seconds> lifetime_for(unsigned status) const;
    bool operator==(const StoringRule&) const = default;
};

/// The part of the query that stays in the key of the cache. The origin always gets the whole.
struct QueryRule {
    enum class Mode : std::uint8_t { whole, keep, drop, ignore };
    Mode mode = Mode::whole;
    std::vector<Glob> names;  // of the parameters that are kept, or dropped
    bool sorted = false;      // by name, then by value

    bool changes_key() const { return mode != Mode::whole || sorted; }
};

/// Changes to the fields of a message.
struct FieldEdits {
    using Line = std::pair<std::string, std::string>;  // name, value
    std::vector<Line> set;                             // replaces all lines of the name
    std::vector<Line> add;
    std::vector<std::string> remove;

    bool empty() const { return set.empty() && add.empty() && remove.empty(); }
    /// Calls `append` with name and value of each new line, those of `set` first.
    template <class Append>
    void each_new(const Append& append) const {
        for (const auto* lines : {&set, &add})
            for (const auto& [name, value] : *lines) append(name, value);
    }
    /// The lines of this name are left out of the message.
    bool takes_away(std::string_view name) const;
};

/// When a node asks who else fetches what no node has, so that the cluster fetches it once.
enum class FetchOnce : std::uint8_t { automatic, always, never };
inline constexpr std::array<std::string_view, 3> kFetchOnceNames{"auto", "always", "never"};

/// One entry of `rules`.
struct Rule {
    std::string name;
    RuleMatch match;
    StoringRule storing;
    QueryRule query;
    bool bypass = false;          // such requests go past the cache
    bool fetch_for_head = false;  // a HEAD fills the store as a GET does
    FetchOnce fetch_once = FetchOnce::automatic;
    std::optional<std::chrono::seconds> min_age;  // younger content is refused: min_age.hpp
    FieldEdits request_fields, response_fields;
    std::vector<std::string> tags;  // that each stored response gets, to purge by
    /// A hash of `storing` and `query` by their meaning, the same in every process; 0 if they
    /// change nothing. A stored response keeps the mark of the rule that judged it.
    std::uint32_t mark = 0;
};

/// The query of `path_and_query` as `rule` leaves it in the key, with its `?`; empty: none. Names
/// are compared in decoded form. A parameter stays that an origin might read as another one: one
/// with a `;`, and for `keep` one whose name has other bytes than letters, digits and `-._~`.
std::string query_for_key(const QueryRule& rule, std::string_view path_and_query);

/// The ordered list of rules. The first that matches a request applies to it. Immutable; any
/// thread. A look-up costs one hash of the host, one of each of its suffixes that a rule names as
/// `*.suffix`, and a few of the first bytes of host and path. Then it compares the rules with these
/// first bytes.
class RuleTable {
public:
    /// The name of the rule for a path that origins read in several ways (path_readings.hpp), when
    /// different rules are for these. Such a request goes past the cache, and the longest `min_age`
    /// of these rules applies to it. A rule that only restricts applies itself, if no rule is for
    /// the other readings.
    static constexpr std::string_view kTwoReadings = "(two readings of the path)";

    RuleTable() = default;
    explicit RuleTable(std::vector<Rule> rules);

    bool empty() const { return rules_.empty(); }
    const std::vector<Rule>& all() const { return rules_; }

    class HostMemo;
    /// The rule for a request in every reading of its path; null: none matches. `host`: lower case.
    /// The result lives as long as the table. `memo` makes the look-up cheaper for the host of the
    /// last one; null: there is none.
    const Rule* find(std::string_view method, std::string_view host,
                     std::string_view path_and_query, HostMemo* memo = nullptr) const;

    /// A rule names this host, by another pattern than `*` alone. `host`: lower case.
    bool names_host(std::string_view host) const;

    /// A hash over all that decides about keys: 0 if no rule changes keys. Equal tables have equal
    /// hashes in all processes.
    std::uint64_t key_hash() const { return key_hash_; }

private:
    /// One path of one rule.
    struct Candidate {
        std::uint32_t rule, path;  // path: an index, or kAny
        std::uint32_t host = 0;    // index of its pattern, in by_pattern_ alone
    };
    /// Candidates by the first eight bytes that a text must have: its path, or its host. A look-up
    /// costs one hash for each number of such bytes that occurs, at most nine.
    class Candidates {
    public:
        /// `prefix`: of the text. In the order of rules.
        void add(std::string_view prefix, const Candidate& candidate);
        /// Calls `visit` with those that may be for `text`. It returns false to skip the rest,
        /// which stand behind it.
        template <class Visit>
        void each(std::string_view text, const Visit& visit) const;

    private:
        struct HashOfWord {
            using is_avalanching = void;
            std::size_t operator()(std::uint64_t word) const { return summary::mix(word); }
        };
        struct Group {
            std::uint64_t mask;  // of the bytes
            boost::unordered_flat_map<std::uint64_t, std::vector<Candidate>, HashOfWord> by_bytes;
        };
        std::vector<Candidate> any_;  // for every text
        std::vector<Group> groups_;
    };
    /// A request under judgement.
    struct LookupInput {
        std::string_view method, host, path;
        HostMemo* memo = nullptr;
    };
    /// A number of one object: no other one ever has it, and a copy is another one.
    class Number {
    public:
        Number();
        Number(const Number&) : Number() {}
        Number& operator=(const Number& other) {
            if (this != &other) value_ = Number().value_;
            return *this;
        }
        std::uint64_t value() const { return value_; }

    private:
        std::uint64_t value_;
    };

    void add_candidates(std::size_t rule, Candidates& to) const;
    void add_pattern(std::size_t rule, std::size_t host);
    const Rule* find_plain(const LookupInput& asked) const;
    const Rule* find_strictest(LookupInput asked, std::string_view path_and_query) const;
    const Rule* find_by_memo(const LookupInput& asked) const;
    void remember(std::string_view host, HostMemo& memo) const;
    template <class Visit>
    void each_suffix(std::string_view host, const Visit& visit) const;
    void look_at(const Candidate& candidate, const LookupInput& asked, std::size_t& first) const;
    template <bool kByPattern>
    void find_first(const Candidates& candidates, const LookupInput& asked,
                    std::size_t& first) const;

    std::vector<Rule> rules_;
    struct HashOfText {
        using is_transparent = void;
        using is_avalanching = void;
        std::size_t operator()(std::string_view text) const;
    };
    /// Of each host that a rule names in full.
    using ByText = boost::unordered_flat_map<std::string, Candidates, HashOfText, std::equal_to<>>;
    ByText by_host_;
    // For all other hosts:
    ByText by_suffix_;                 // of patterns such as `*.example.net`, without the star
    std::bitset<256> suffix_lengths_;  // modulo 256
    Candidates of_all_hosts_;
    Candidates by_pattern_;  // other patterns
    /// kTwoReadings: without `min_age`, then with each one of the rules, in increasing order.
    std::vector<Rule> two_readings_;
    std::uint64_t key_hash_ = 0;
    Number number_;
};

/// The candidates for the host that a reader of a table asked for last. It needs neither hashes nor
/// comparisons of the host as long as the host and the table stay the same. It may outlive tables.
/// One thread. Memory: the host, and one entry for each pattern that matches it.
class RuleTable::HostMemo {
private:
    friend class RuleTable;
    std::uint64_t table_ = 0;  // its Number; 0: none
    std::string host_;
    std::vector<const Candidates*> by_path_;
    std::vector<Candidate> by_pattern_;
};

}  // namespace proxy
