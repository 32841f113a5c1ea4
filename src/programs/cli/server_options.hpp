#pragma once

#include "cli/command_line.hpp"
#include "k8s_sd/config.hpp"

#include <string>
#include <string_view>

namespace cli {

/// The options for the server and the connection, common to all programs. They set the fields of
/// the configuration for the server.
/// \param otherwise  describes the behaviour without any of them
Section server_options(k8s_sd::DiscoveryConfig&, const std::string& otherwise);
/// The options for credentials and trust.
Section credential_options(k8s_sd::DiscoveryConfig&);

/// Whether the options name a server.
bool names_server(const k8s_sd::DiscoveryConfig&);
/// Copies the settings of the server.
void set_server(k8s_sd::DiscoveryConfig& to, const k8s_sd::DiscoveryConfig& from);

/// Finds the server without a URL or kubeconfig in the options, reads the required files and checks
/// that every named file can be read.
/// \throws k8s_sd::ConfigError, Unusable
k8s_sd::ApiServerConfig usable_server(k8s_sd::DiscoveryConfig&);

/// Checks that the files of a resolved server can be read. A watch would retry, since the files may
/// appear later; an interactive user gets the error at once. \throws Unusable
void check_files(const k8s_sd::ApiServerConfig&);

/// The path, if the file can be read. \throws UsageError
std::string readable_file(const std::string& path);

/// The option for a field of the configuration, "--ca-file" for "api_server.tls.ca_file"; empty if
/// there is none.
std::string_view option_of_server_field(std::string_view field) noexcept;

}  // namespace cli
