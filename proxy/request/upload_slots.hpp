#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "proxy/access/client_network.hpp"

namespace proxy {

/// The requests of each client network to each place whose bodies are on their way. Such a request
/// has a connection to its place for as long as the client takes to send the body, so one client
/// may have a part of those connections alone. Memory: some 150 bytes for each network and place
/// with an upload. One thread.
class UploadSlots {
    using Table = std::unordered_map<std::string, std::size_t>;

public:
    /// One upload until its destruction. UploadSlots outlives it.
    class UploadSlot {
    public:
        UploadSlot(UploadSlot&& other) noexcept
            : table_(std::exchange(other.table_, nullptr)), entry_(other.entry_) {}
        UploadSlot& operator=(UploadSlot&& other) noexcept {
            std::swap(table_, other.table_);
            std::swap(entry_, other.entry_);
            return *this;
        }
        ~UploadSlot() {
            if (table_ && --entry_->second == 0) table_->erase(table_->find(entry_->first));
        }

    private:
        friend class UploadSlots;
        UploadSlot(Table& table, Table::value_type& entry) : table_(&table), entry_(&entry) {}

        Table* table_;
        Table::value_type* entry_;  // stays when the table grows
    };

    /// None: `client` has `most` uploads to `place` already. `place`: as UpstreamTarget::key.
    std::optional<UploadSlot> take(const ClientNetwork& client, std::string_view place,
                                   std::size_t most) {
        auto key = key_of(client);
        auto& entry = *table_.try_emplace(key.append(place)).first;
        if (entry.second >= most) return std::nullopt;
        ++entry.second;
        return UploadSlot(table_, entry);
    }

    /// Of networks and places with an upload.
    std::size_t size() const { return table_.size(); }

private:
    Table table_;
};

/// The uploads that one client may have to one place at a time: half of the connections there
/// (`limits.upstream_connections`).
constexpr std::size_t uploads_of_one(std::size_t upstream_connections) {
    return upstream_connections < 2 ? 1 : upstream_connections / 2;
}

}  // namespace proxy
