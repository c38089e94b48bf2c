#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "proxy/http/fields.hpp"
#include "proxy/http/forwarded.hpp"
#include "proxy/rewrite/mirror.hpp"

namespace proxy {

/// The texts that the node writes into the head of one request after another, for the origin that
/// reads it. The fields of the head view them. One thread.
class HeadForOrigin {
public:
    /// Begins with the next request, whose head has none of the texts.
    void begin() {
        is_written_ = false;
        stated_ = {};
        mirrored_.reset();
    }
    bool is_written() const { return is_written_; }

    /// A trusted proxy has stated these parts of the target, and the key has them from it.
    void note_stated(StatedParts parts) { stated_ = parts; }
    StatedParts stated() const { return stated_; }

    /// Writes the statements about client and target.
    void write(std::vector<Field>& head, const ForwardedHop& hop) {
        is_written_ = true;
        forwarded_.rewrite(head, hop);
    }
    /// Names pages and places as the origin behind `mirror` does.
    void write_for_mirror(std::vector<Field>& head, const MirrorTable& all, const Mirror& mirror);
    /// The client itself has sent Authorization or another credential. `head`: of the request;
    /// write_for_mirror() was called if it is written.
    bool has_own_credential(Fields head) const;

    /// Bytes of memory that are kept from request to request.
    std::size_t kept_bytes() const { return forwarded_.kept_bytes(); }
    void give_back() {
        forwarded_.give_back();
        mirrored_.reset();
    }

private:
    ForwardedFields forwarded_;
    std::unique_ptr<std::deque<std::string>> mirrored_;  // by write_for_mirror()
    StatedParts stated_;
    bool is_written_ = false, is_authorized_ = false;
};

}  // namespace proxy
