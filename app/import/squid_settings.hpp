#pragma once

#include "app/import/draft.hpp"

namespace app {

/// Takes a directive that one setting expresses on its own, one that needs none, or one that is
/// listed with a word of advice. False for the others.
bool import_squid_setting(const Directive& line, ImportDraft& draft);

/// `request_header_access` and its kin: changes of fields for all requests.
bool import_squid_fields(const Directive& line, ImportDraft& draft);

}  // namespace app
