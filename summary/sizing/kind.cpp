#include "summary/sizing/kind.hpp"

namespace summary {

std::string_view name(Kind kind) {
    switch (kind) {
        case Kind::counting_bloom:
            return "counting_bloom";
        case Kind::quotient:
            return "quotient";
        case Kind::cuckoo:
            return "cuckoo";
    }
    return "unknown";
}

std::optional<Kind> kind_named(std::string_view name) {
    for (const auto kind : kKinds) {
        if (summary::name(kind) == name) return kind;
    }
    return std::nullopt;
}

KeyHash entry_of(Kind kind, const Key& key) {
    switch (kind) {
        case Kind::counting_bloom:
        case Kind::quotient:
        case Kind::cuckoo:
            return key.hash;
    }
    return {};
}

}  // namespace summary
