#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/logger.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace discover {

enum class Output { text, json, targets, quiet };

/// What the command line asks for.
struct Options {
    k8s_sd::DiscoveryConfig config;
    bool sim = false;
    unsigned jobs = 1;
    bool once = false;
    std::optional<k8s_sd::Duration> timeout;
    Output output = Output::text;
    k8s_sd::LogLevel log_level = k8s_sd::LogLevel::warning;
    bool help = false;
    bool version = false;
};

/// A command line that cannot be used; the text names the option and says what is allowed.
class UsageError : public std::invalid_argument {
 public:
    using std::invalid_argument::invalid_argument;
};

/// Reads the arguments, without the program's name. Loads the file of --sd-config first, wherever
/// it stands: the other options add to it.
/// \throws UsageError, k8s_sd::ConfigError
Options parse_options(const std::vector<std::string>& arguments);

/// The option that sets the configuration's field, "--namespace" for "namespaces[1]"; empty if
/// there is none.
std::string_view option_of_field(std::string_view field) noexcept;

/// What --help prints.
std::string_view help_text() noexcept;

}  // namespace discover
