#pragma once

#include <boost/system/system_error.hpp>

#include "app/command.hpp"
#include "measure/origin/origin.hpp"

namespace app {

/// `hearsay origin`: runs the built-in origin until INT or TERM. Returns the exit code and reports
/// errors on standard error.
int origin_command(const measure::OriginOptions&);
Command add_origin(CLI::App& app);

/// Reports that an origin cannot listen, and returns the exit code.
int cannot_listen(const measure::OriginOptions& options, const boost::system::system_error& error);

}  // namespace app
