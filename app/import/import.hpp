#pragma once

#include <string>
#include <vector>

#include "app/import/draft.hpp"
#include "app/import/source.hpp"

namespace app {

/// Translates the directives of a squid.conf. `read` returns the text of a file that a list names,
/// or nothing.
void import_squid(const std::vector<Directive>& directives,
                  const std::function<std::optional<std::string>(const std::string&)>& read,
                  ImportDraft& draft);

/// Translates the directives of a configuration of nginx, or of a part of one.
void import_nginx(const std::vector<Directive>& directives, ImportDraft& draft);

}  // namespace app
