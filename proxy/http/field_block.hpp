#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/fields.hpp"

namespace proxy {

/// A view of the fields of one head in the form in which the store keeps them: `Name: value` and
/// CRLF for each line, in the order received, duplicates included. The block has no status line, no
/// field of framing (Content-Length, Transfer-Encoding) and no hop-by-hop field. So each transport
/// can send it: HTTP/1.1 writes the text as it is, another transport iterates over the fields.
/// Iteration allocates nothing; it skips lines without a colon. The text must outlive the view.
class FieldBlock {
public:
    class Iterator {
    public:
        explicit Iterator(std::string_view rest) : rest_(rest) { next(); }

        const Field& operator*() const { return field_; }
        const Field* operator->() const { return &field_; }
        Iterator& operator++() {
            next();
            return *this;
        }
        /// Two iterators of one block are equal when both are at its end.
        bool operator==(const Iterator& other) const {
            return at_end_ == other.at_end_ && rest_.size() == other.rest_.size();
        }

    private:
        void next();

        std::string_view rest_;
        Field field_;
        bool at_end_ = false;
    };

    FieldBlock() = default;
    FieldBlock(std::string_view text) : text_(text) {}
    FieldBlock(const std::string& text) : text_(text) {}
    FieldBlock(const char* text) : text_(text) {}

    std::string_view text() const { return text_; }
    bool empty() const { return text_.empty(); }
    /// Calls `see` with name and value of each line, for a caller that needs no Field::id.
    template <class See>
    void each(const See& see) const {
        auto rest = text_;
        std::string_view name, value;
        while (next_line(rest, name, value)) see(name, value);
    }
    Iterator begin() const { return Iterator(text_); }
    Iterator end() const { return Iterator({}); }

private:
    /// False at the end of `rest`.
    static bool next_line(std::string_view& rest, std::string_view& name, std::string_view& value);

    std::string_view text_;
};

/// The fields of `block`, as views of its text.
std::vector<Field> fields_of(FieldBlock block);

}  // namespace proxy
