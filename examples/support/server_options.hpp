#pragma once

#include "k8s_sd/config.hpp"
#include "support/command_line.hpp"

#include <string>
#include <string_view>

namespace support {

/// The options that say which server to talk to, and how: the same ones in all programs. They set
/// the fields of the configuration that name a server.
/// \param otherwise  what is done without any of them
Section server_options(k8s_sd::DiscoveryConfig&, const std::string& otherwise);
/// Those that say who asks, and whom to trust.
Section credential_options(k8s_sd::DiscoveryConfig&);

/// Whether anything was said about the server.
bool names_server(const k8s_sd::DiscoveryConfig&) noexcept;
/// Copies what `from` says about the server.
void set_server(k8s_sd::DiscoveryConfig& to, const k8s_sd::DiscoveryConfig& from);

/// Finds the server if no URL and no kubeconfig says where it is, reads what has to be read and
/// checks that every file that is named can be read.
/// \throws k8s_sd::ConfigError, Unusable
k8s_sd::ApiServerConfig usable_server(k8s_sd::DiscoveryConfig&);

/// Checks that the files of a resolved server can be read. A watch would try again and again, for
/// they may come later; to somebody who looks on it is told at once. \throws Unusable
void check_files(const k8s_sd::ApiServerConfig&);

/// The path, if the file can be read. \throws UsageError
std::string readable_file(const std::string& path);

/// The option that sets the configuration's field, "--ca-file" for "api_server.tls.ca_file"; empty
/// if there is none.
std::string_view option_of_server_field(std::string_view field) noexcept;

}  // namespace support
