// The memory that a store really takes, beside its charges. Clients and origins choose the stored
// fields, so none of them may take memory that nothing charges.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "proxy/fetch/body_writer.hpp"
#include "proxy/fetch/storing.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/tags.hpp"
#include "tests/heap_in_use.hpp"
#include "tests/proxy/hash.hpp"
#include "tests/proxy/http/head.hpp"
#include "tests/proxy/request/request.hpp"
#include "tests/proxy/storage/recorded_events.hpp"

namespace proxy {
namespace store_memory_test {

using namespace std::chrono_literals;
using Text = test::Head;

constexpr std::uint64_t kCap = 4 << 20;
/// The memory that may be beside the cap: memories of keys that are not stored
/// (PendingResponses::kMaxUnshareable, ghosts of evicted objects), tables that have just doubled,
/// free ends of the heap's chunks.
constexpr std::uint64_t kBeside = kCap / 16 + (512 << 10);

constexpr WallTime kWall = std::chrono::sys_days(2026y / 11 / 20);
constexpr Arrival kArrival{Arrival::Steady(1000s), kWall};

/// One exchange: the request of a client, and the answer of the origin.
struct Asked {
    std::string uri, request, response, body;
    bool length_known = true;
};

/// One kind of object: the `n`th of them.
struct Kind {
    const char* name;
    std::function<Asked(std::size_t n)> make;
};

std::string words(std::string_view stem, std::size_t count, std::string_view between) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) all += between;
        all.append(stem).append(std::to_string(i));
    }
    return all;
}

std::string page(std::size_t n) {
    return "http://h/" + std::to_string(n);
}

const std::string kFresh = "Cache-Control: max-age=1000\n";

const Kind kKinds[] = {
    {"nothing but a key",
     [](std::size_t n) {
         return Asked{page(n), "", kFresh, ""};
     }},
    {"long keys",
     [](std::size_t n) {
         return Asked{page(n) + std::string(15'000, 'u'), "", kFresh, ""};
     }},
    {"values of a request field that Vary names",
     [](std::size_t n) {
         return Asked{page(n), "Cookie: " + std::string(60'000, 'c'), kFresh + "Vary: Cookie",
                      "text"};
     }},
    {"many short values of request fields",
     [](std::size_t n) {
         std::string request;
         for (int i = 0; i < 32; ++i) request += "X" + std::to_string(i) + ": value\n";
         return Asked{page(n), request, kFresh + "Vary: " + words("X", 32, ", "), ""};
     }},
    {"variants of few keys",
     [](std::size_t n) {
         return Asked{page(n % 8), "Cookie: " + std::to_string(n) + std::string(20'000, 'c'),
                      kFresh + "Vary: Cookie", ""};
     }},
    {"names in Vary",
     [](std::size_t n) {
         return Asked{page(n), "", kFresh + "Vary: " + words(std::string(1000, 'v'), 32, ","), ""};
     }},
    {"long heads",
     [](std::size_t n) {
         return Asked{page(n), "", kFresh + "X: " + std::string(33'000, 'h'), ""};
     }},
    {"many lines",
     [](std::size_t n) {
         std::string lines = kFresh;
         for (int i = 0; i < 190; ++i) lines += "X: y\n";
         return Asked{page(n), "", lines, ""};
     }},
    {"tags",
     [](std::size_t n) {
         const auto own = std::to_string(n) + "-";
         return Asked{page(n), "", kFresh + "Surrogate-Key: " + words(own, kMaxTags, " "), ""};
     }},
    {"fewer tags than there is room for",
     [](std::size_t n) {
         const auto own = std::to_string(n) + "-";
         return Asked{page(n), "", kFresh + "Surrogate-Key: " + words(own, 520, " "), ""};
     }},
    {"one tag each",
     [](std::size_t n) {
         return Asked{page(n), "", kFresh + "Surrogate-Key: " + std::to_string(n), ""};
     }},
    {"bodies of one byte whose length nobody knew",
     [](std::size_t n) {
         return Asked{page(n), "", kFresh, "x", false};
     }},
    {"bodies of one byte",
     [](std::size_t n) {
         return Asked{page(n), "", kFresh, "x"};
     }},
    {"bodies of many small blocks",
     [](std::size_t n) {
         return Asked{page(n), "", kFresh, std::string(17'000, 'b'), false};
     }},
    {"large bodies",
     [](std::size_t n) {
         return Asked{page(n), "", kFresh, std::string(1'000'000, 'b')};
     }},
};

class StoreMemoryTest : public ::testing::TestWithParam<Kind> {
protected:
    /// Brings one exchange into the store as a fetch does. False when it was not stored.
    bool put(Store& store, const Asked& exchange) {
        CacheKey key;
        key.assign(Scheme::http, boost::beast::http::verb::get, exchange.uri, {});
        const auto& snapshot = request_of(exchange);
        const RequestDirectives directives;
        const StoringRequest asking{test::hasher(), snapshot, directives};
        const Text response(exchange.response);
        Head head;
        head.status = 200;
        const Fields fields = response;
        head.fields.assign(fields.begin(), fields.end());
        auto made = candidate(asking, {head, kWall, kArrival, {}, false});
        LiveFields live;
        render_response(head, "node", StoredFields(head.fields, config_->cache.rules), kWall,
                        made.response->head_fields, live);

        const auto hash = test::hash(key.uri());
        auto fill = std::make_shared<Fill>(std::make_shared<base::Wakeup>(io_.get_executor()), 0);
        FillLease lease(store, hash, key.uri(), fill);
        lease.take(store.find(hash, key.uri(), snapshot.fields, kArrival.steady));
        BodyWriter writer(store, windows_, lease, *fill, kCap / 2);
        if (admit(store, lease, made, CopyUse::stored, kArrival.steady) != Sharing::stored)
            return false;
        Fill::Incoming incoming;
        incoming.response = made.response;
        writer.begin(std::move(incoming), Sharing::stored, kArrival.steady);
        for (std::string_view rest = exchange.body; !rest.empty();) {
            const auto exact = exchange.length_known ? rest.size() : 0;
            if (writer.room() == 0 &&
                writer.make_room(exact, kArrival.steady) != BodyWriter::Room::made)
                return false;
            const auto piece = rest.substr(0, writer.room());
            writer.append(piece);
            rest.remove_prefix(piece.size());
        }
        return writer.finish(kArrival.steady) == StorageVerdict::store;
    }

    /// A request with these fields, to the origin of all. The last one stays, so that its memory
    /// leaves no gaps between those of responses.
    const RequestSnapshot& request_of(const Asked& exchange) {
        if (snapshot_ && fields_ == exchange.request) return *snapshot_;
        fields_ = exchange.request;
        const Text text(fields_);
        const Fields lines = text;
        const auto key = test::key_of("http://h/");
        snapshot_.emplace(test::request_head("GET", "http://h/", {lines.begin(), lines.end()}), key,
                          true, keep_site(config_, choose_site(*config_, key, true), key));
        return *snapshot_;
    }

    void forget_request() {
        snapshot_.reset();
        fields_ = std::string();
    }

    boost::asio::io_context io_;
    base::MemoryBudget windows_{1 << 20};
    const std::shared_ptr<const LoadedConfig> config_ = std::make_shared<const LoadedConfig>();
    std::string fields_;
    std::optional<RequestSnapshot> snapshot_;
};

TEST_P(StoreMemoryTest, IsWhatTheCapSays) {
    test::IgnoredEvents events;
    put(*std::make_unique<Store>(kCap, test::hasher(), events), GetParam().make(0));
    forget_request();  // from here on, the program has what it makes once
    const auto before = ::test::heap_in_use();
    auto store = std::make_unique<Store>(kCap, test::hasher(), events);
    store->set_max_variants(kMaxVariants);
    std::size_t stored = 0;
    std::uint64_t bytes = 0;  // of all that came
    for (std::size_t n = 0; bytes < 2 * kCap; ++n) {
        const auto asked = GetParam().make(n);
        stored += put(*store, asked) ? 1 : 0;
        bytes +=
            asked.uri.size() + asked.request.size() + asked.response.size() + asked.body.size();
        if (n % 64 == 0 && store->stats().evictions > stored / 8 + 8) break;
    }
    const auto stats = store->stats();
    const auto taken = ::test::heap_in_use() - before;
    std::printf("%-44s %7zu stored, charged %5.2f MiB, taken %5.2f MiB\n", GetParam().name, stored,
                static_cast<double>(stats.memory_bytes) / (1 << 20),
                static_cast<double>(taken) / (1 << 20));
    EXPECT_GT(stats.evictions, 0u) << "it was not full";
    EXPECT_LE(stats.memory_bytes, kCap);
    EXPECT_LE(taken, kCap + kBeside);
    store.reset();
    forget_request();
    EXPECT_LE(::test::heap_in_use(), before + (64 << 10)) << "all of it goes";
}

void PrintTo(const Kind& kind, std::ostream* out) {
    *out << kind.name;
}

INSTANTIATE_TEST_SUITE_P(Kinds, StoreMemoryTest, ::testing::ValuesIn(kKinds), [](const auto& kind) {
    std::string name = kind.param.name;
    for (auto& c : name)
        if (c == ' ') c = '_';
    return name;
});

}  // namespace store_memory_test
}  // namespace proxy
