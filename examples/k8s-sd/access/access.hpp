#pragma once

#include "support/http_server.hpp"
#include "support/secrets.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// What is behind a path, for the question who may have it.
enum class PathClass {
    probe,    ///< for everybody
    metrics,  ///< of the program
    list,     ///< for agents
    page,     ///< for people: the page, its data, Prometheus' API
    control,  ///< changes what the program does
};

/// What is not known is taken for part of the page.
PathClass class_of(std::string_view path);

struct AccessOptions {
    /// Files with a token in each line. Empty: of the page that of the lists, of control that of
    /// the page; else nobody is asked for a token.
    std::string list_token_file{};
    std::string page_token_file{};
    std::string control_token_file{};
    std::string metrics_token_file{};
    bool require_client_cert = false;
    /// Names in the header Host besides addresses and localhost.
    std::vector<std::string> hosts{};
};

/// The tokens of a file, of which any one will do; a new one can come before the old one goes.
class TokenFile {
 public:
    /// \throws std::runtime_error in words
    explicit TokenFile(std::string path);

    bool accepts(std::string_view token) const;
    /// Reads the file again. \returns what is wrong, in words, when that is news; then the old
    ///          tokens stay
    std::string look();

 private:
    void load();

    std::string path_;
    std::vector<support::Digest> tokens_;
    std::string problem_;
};

/// Who may ask for what. Probes are for everybody.
class Access {
 public:
    /// \param local  the server listens on a loopback address: names of other hosts are refused, as
    ///               a web page whose name leads here has one (DNS rebinding)
    /// \throws std::runtime_error in words
    Access(const AccessOptions&, bool local);

    /// nullopt: the request is to be answered.
    std::optional<support::HttpServer::Reply> refusal(const support::HttpServer::Request&) const;
    /// Reads the tokens again. \returns what is wrong, in words
    std::vector<std::string> look();

 private:
    bool knows_host(std::string_view host) const;
    bool has_token(PathClass, std::string_view authorization) const;

    std::map<std::string, TokenFile> files_;  // by their paths
    std::map<PathClass, const TokenFile*> tokens_;
    const bool require_client_cert_;
    const bool check_hosts_;
    std::vector<std::string> hosts_;
};

}  // namespace bridge
