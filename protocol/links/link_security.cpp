#include "protocol/links/link_security.hpp"

#include "protocol/wire/error.hpp"

namespace protocol {

boost::system::error_code judge_encryption(const ClusterSecurity& settings, bool encrypted) {
    if (settings.allow_clear || encrypted == settings.encrypt) return {};
    return make_error_code(encrypted ? Error::encrypted : Error::not_encrypted);
}

std::optional<std::size_t> DialSecurity::key() const {
    if (!settings_.encrypt || clear_next_) return std::nullopt;
    return key_;
}

void DialSecurity::ended(const boost::system::error_code& why, bool was_up,
                         bool comes_in_the_clear) {
    const auto failed = why == Error::tls_failed || why == Error::connection_closed;
    const auto is_proved = why == Error::encrypted || (failed && comes_in_the_clear);
    clear_next_ = settings_.allow_clear && !clear_next_ && !was_up && is_proved;
    if (why == Error::wrong_key && settings_.keys.size() > 1) key_ = 1 - key_;
}

}  // namespace protocol
