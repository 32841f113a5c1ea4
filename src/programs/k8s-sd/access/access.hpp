#pragma once

#include "http/http_server.hpp"
#include "http/secrets.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// The class of a path, for access control.
enum class PathClass {
    probe,    ///< public
    metrics,  ///< of the program
    list,     ///< for agents
    page,     ///< for users: the page, its data, Prometheus' API
    control,  ///< changes the state of the program
};

/// Unknown paths count as part of the page.
PathClass class_of(std::string_view path);

struct AccessOptions {
    /// Files with one token a line. By default the page uses the tokens of lists, and control those
    /// of the page; otherwise no token is required.
    std::string list_token_file{};
    std::string page_token_file{};
    std::string control_token_file{};
    std::string metrics_token_file{};
    bool require_client_cert = false;
    /// Valid names in the header Host, besides addresses and localhost.
    std::vector<std::string> hosts{};
};

/// The tokens of a file, each of them valid: add a new token before removing the old one.
class TokenFile {
 public:
    /// \throws std::runtime_error in words
    explicit TokenFile(std::string path);

    bool accepts(std::string_view token) const;
    /// Reads the file again. \returns a new problem, in words; the old tokens then remain valid
    std::string refresh();

 private:
    void load();

    std::string path_;
    std::vector<http::Digest> tokens_;
    std::string problem_;
};

/// Access control by path. Probes are always permitted.
class AccessPolicy {
 public:
    /// \param local  the server listens on a loopback address: requests for other host names are
    ///               refused, because a web page with a name for this address could send them
    ///               (DNS rebinding)
    /// \throws std::runtime_error in words
    AccessPolicy(const AccessOptions&, bool local);

    /// nullopt: the request is permitted.
    std::optional<http::HttpServer::Reply> refusal(const http::HttpServer::Request&) const;
    /// Reads the tokens again. \returns the problems, in words
    std::vector<std::string> refresh();

 private:
    bool knows_host(std::string_view host) const;
    bool has_token(PathClass, std::string_view authorization) const;

    std::map<std::string, TokenFile> files_;  // by path
    std::map<PathClass, const TokenFile*> tokens_;
    const bool require_client_cert_;
    const bool check_hosts_;
    std::vector<std::string> hosts_;
};

}  // namespace k8s_sd_program
