#include "access/access.hpp"

#include "cli/terminal_text.hpp"
#include "http/http_fields.hpp"

#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>
#include <openssl/evp.h>
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <utility>

namespace k8s_sd_program {

using boost::beast::iequals;
using boost::beast::http::field;
using http::HttpServer;

namespace {

struct KnownPath {
    std::string_view path;
    PathClass path_class;
};

/// The class of a path applies to its subpaths, too.
constexpr KnownPath known_paths[] = {
    {"/livez", PathClass::probe},     {"/readyz", PathClass::probe},
    {"/-/healthy", PathClass::probe}, {"/-/ready", PathClass::probe},
    {"/-", PathClass::control},       {"/metrics", PathClass::metrics},
    {"/sd", PathClass::list},         {"/scrape_configs", PathClass::list},
    {"/jobs", PathClass::list},       {"/v1", PathClass::list},
};

bool is_in(std::string_view path, std::string_view folder) {
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == text.npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Strips the port of "localhost:8080", and the brackets of "[::1]:8080" as well.
std::string_view without_port(std::string_view host) {
    if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
    return host.substr(0, host.find(':'));
}

/// For a refusal. Any other text could be valid YAML; collectors would read it as a configuration.
std::string shown_name(std::string_view host) {
    constexpr std::size_t max_size = 253;
    const std::string_view name = without_port(host);
    const bool usual =
        !name.empty() && name.size() <= max_size &&
        std::all_of(name.begin(), name.end(), [](char c) {
            return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
        });
    return usual ? std::string(name) : "what the header Host says";
}

/// "https://a:8080" becomes "a:8080"; empty: not a URL, such as "null".
std::string_view host_of_origin(std::string_view origin) {
    const std::size_t scheme = origin.find("://");
    return scheme == origin.npos ? std::string_view() : origin.substr(scheme + 3);
}

/// The password of "name:password" in Base64; empty if there is none.
std::string password_in(std::string_view base64) {
    std::string text(base64.size(), '\0');
    const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(base64.data()),
                                     static_cast<int>(base64.size()));
    // Padding decodes to zeros.
    text.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    while (text.ends_with('\0')) text.pop_back();
    const std::size_t colon = text.find(':');
    std::string password = colon == text.npos ? std::string() : text.substr(colon + 1);
    http::forget(text);
    return password;
}

HttpServer::Reply token_reply(PathClass path_class) {
    HttpServer::Reply reply = http::text_reply(
        401, "a token is needed here, as Bearer TOKEN in the header Authorization, or as the "
             "password of any user\n");
    // Browsers can ask the user for a password, but not for a bearer token.
    reply.headers.emplace_back(field::www_authenticate,
                               path_class == PathClass::page
                                   ? "Basic realm=\"k8s-sd\", charset=\"UTF-8\""
                                   : "Bearer realm=\"k8s-sd\"");
    return reply;
}

}  // namespace

PathClass class_of(std::string_view path) {
    for (const KnownPath& known : known_paths) {
        if (is_in(path, known.path)) return known.path_class;
    }
    return PathClass::page;
}

TokenFile::TokenFile(std::string path) : path_(std::move(path)) { load(); }

void TokenFile::load() {
    std::string text = http::read_small_file(path_);
    std::vector<http::Digest> tokens;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const auto token = trimmed(std::string_view(text).substr(begin, end - begin));
        if (!token.empty()) tokens.push_back(http::digest_of(token));
        begin = end + 1;
    }
    http::forget(text);
    constexpr std::size_t max_tokens = 1000;
    if (tokens.empty() || tokens.size() > max_tokens) {
        throw std::runtime_error(cli::printable(path_, 1000) + " has " +
                                 (tokens.empty() ? "no token" : "more than 1000 tokens"));
    }
    tokens_ = std::move(tokens);
}

bool TokenFile::accepts(std::string_view token) const {
    const http::Digest given = http::digest_of(token);
    bool accepted = false;
    for (const http::Digest& known : tokens_) {
        if (http::same_secret(known, given)) accepted = true;
    }
    return accepted;
}

std::string TokenFile::refresh() {
    std::string problem;
    try {
        load();
    } catch (const std::exception& e) {
        problem = std::string("the tokens in use stay: ") + e.what();
    }
    if (std::exchange(problem_, problem) == problem) return {};
    return problem;
}

AccessPolicy::AccessPolicy(const AccessOptions& options, bool local)
    : require_client_cert_(options.require_client_cert),
      check_hosts_(local || !options.hosts.empty()),
      hosts_(options.hosts) {
    hosts_.push_back("localhost");
    const std::string& page =
        options.page_token_file.empty() ? options.list_token_file : options.page_token_file;
    const std::string& control =
        options.control_token_file.empty() ? page : options.control_token_file;
    const auto use = [this](PathClass path_class, const std::string& path) {
        if (!path.empty()) tokens_[path_class] = &files_.try_emplace(path, path).first->second;
    };
    use(PathClass::list, options.list_token_file);
    use(PathClass::page, page);
    use(PathClass::control, control);
    use(PathClass::metrics, options.metrics_token_file);
}

std::optional<HttpServer::Reply> AccessPolicy::refusal(const HttpServer::Request& request) const {
    const PathClass path_class = class_of(request.path);
    if (path_class == PathClass::probe) return std::nullopt;
    const std::string_view host = request.header(field::host);
    if (!knows_host(host)) {
        return http::text_reply(403, shown_name(host) +
                                         " is no name of this server; --allow-host makes it "
                                         "one\n");
    }
    const std::string_view origin = request.header(field::origin);
    if (request.method != "GET" && !origin.empty() && !iequals(host_of_origin(origin), host)) {
        return http::text_reply(403, "pages of other servers may not do this\n");
    }
    if (require_client_cert_ && !request.client.verified) {
        return http::text_reply(403, "a client certificate is needed here\n");
    }
    if (!has_token(path_class, request.header(field::authorization))) {
        return token_reply(path_class);
    }
    return std::nullopt;
}

/// An address is always accepted: unlike a name, it cannot be rebound.
bool AccessPolicy::knows_host(std::string_view host) const {
    if (!check_hosts_ || host.empty()) return true;
    if (!http::is_host_and_port(host)) return false;
    const std::string name(without_port(host));
    boost::system::error_code no_address;
    boost::asio::ip::make_address(name, no_address);
    return !no_address || std::any_of(hosts_.begin(), hosts_.end(),
                                      [&](const auto& known) { return iequals(known, name); });
}

bool AccessPolicy::has_token(PathClass path_class, std::string_view authorization) const {
    const auto needed = tokens_.find(path_class);
    if (needed == tokens_.end()) return true;
    const std::size_t blank = std::min(authorization.find(' '), authorization.size());
    const std::string_view scheme = authorization.substr(0, blank);
    const std::string_view given = trimmed(authorization.substr(blank));
    if (iequals(scheme, "Bearer")) return needed->second->accepts(given);
    if (!iequals(scheme, "Basic")) return false;
    std::string password = password_in(given);
    const bool accepted = needed->second->accepts(password);
    http::forget(password);
    return accepted;
}

std::vector<std::string> AccessPolicy::refresh() {
    std::vector<std::string> problems;
    for (auto& [path, file] : files_) {
        std::string problem = file.refresh();
        if (!problem.empty()) problems.push_back(std::move(problem));
    }
    return problems;
}

}  // namespace k8s_sd_program
