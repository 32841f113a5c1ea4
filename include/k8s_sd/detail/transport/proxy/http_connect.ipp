#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/url_text.hpp"
#include "k8s_sd/detail/text/user_agent.hpp"
#include "k8s_sd/detail/transport/proxy/http_connect.hpp"
#include "k8s_sd/detail/transport/proxy/proxy_target.hpp"

#include <algorithm>
#include <initializer_list>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr std::size_t max_connect_head_size = 64 * 1024;
constexpr int max_interim_answers = 16;

/// Whether the configured header is sent. As in Go, credentials of the URL take precedence.
bool is_own_header(const HttpHeader& header, bool with_credentials) {
    const std::string name = lower_case(header.name);
    return name != "host" && !(with_credentials && name == "proxy-authorization");
}

bool is_connect_header(const HttpHeader& header) {
    return is_header_name(header.name) && is_header_text(header.value);
}

/// Why the host name or a header does not fit into the request; empty: they fit.
std::string why_not_asked(const ProxyTarget& proxy, const std::string& server) {
    const auto visible = [](char c) { return c != ' ' && !is_control(c); };
    if (!std::all_of(server.begin(), server.end(), visible)) {
        return "cannot connect to a host whose name has blanks or control characters";
    }
    for (const HttpHeader& header : proxy.connect_headers) {
        if (!header.file.empty()) {
            return "is not asked: the header " + in_quotes(printable(header.name)) +
                   " of CONNECT names a file, which is not supported";
        }
        if (is_connect_header(header)) continue;
        return "is not asked: " + in_quotes(printable(header.name)) +
               " cannot be a header of CONNECT, or its value holds a control character";
    }
    return {};
}

CleansedBytes connect_request(const ProxyTarget& proxy, const std::string& server) {
    const bool with_credentials = has_credentials(proxy);
    const CleansedBytes credentials = with_credentials ? basic_credentials(proxy) : CleansedBytes();
    CleansedBytes text;
    // Reallocations leave no copies behind, because CleansedBytes wipes them.
    const auto add = [&](std::initializer_list<std::string_view> parts) {
        for (const std::string_view part : parts) append(text, part);
    };
    add({"CONNECT ", server, " HTTP/1.1\r\nHost: ", server, "\r\n"});
    bool names_agent = false;
    for (const HttpHeader& header : proxy.connect_headers) {
        if (!is_own_header(header, with_credentials)) continue;
        names_agent = names_agent || lower_case(header.name) == "user-agent";
        add({header.name, ": ", header.value, "\r\n"});
    }
    if (!names_agent) add({user_agent_line});
    if (with_credentials) add({"Proxy-Authorization: Basic ", view(credentials), "\r\n"});
    add({"\r\n"});
    return text;
}

/// The values of all fields with this lower-case name.
std::vector<std::string_view> fields_of(std::string_view head, std::string_view name) {
    std::vector<std::string_view> values;
    while (!head.empty()) {
        const std::string_view line = head.substr(0, head.find('\n'));
        head.remove_prefix(std::min(line.size() + 1, head.size()));
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || lower_case(line.substr(0, colon)) != name) continue;
        values.push_back(trim(line.substr(colon + 1)));
    }
    return values;
}

std::string quoted_part(std::string_view text, std::size_t max_size) {
    return printable(text.substr(0, max_size)) + (text.size() > max_size ? "…" : "");
}

/// The informative part of the body: the title of an HTML page, else the text.
std::string body_text(std::string_view body) {
    constexpr std::size_t max_size = 200;
    const std::string_view start = trim(body.substr(0, 4096));
    if (!start.starts_with('<')) return quoted_part(start, max_size);
    const std::string lower = lower_case(start);
    const std::size_t begin = lower.find("<title>");
    if (begin == std::string::npos) return {};
    const std::size_t end = lower.find('<', begin + 7);
    if (end == std::string::npos) return {};
    return quoted_part(trim(start.substr(begin + 7, end - begin - 7)), max_size);
}

/// "407 Proxy Authentication Required"
std::string status_text(std::string_view head) {
    const std::string_view line = head.substr(0, head.find('\n'));
    return quoted_part(trim(line.substr(std::min(line.find(' '), line.size()))), 80);
}

}  // namespace

HttpConnect::HttpConnect(const ProxyTarget& proxy, const std::string& host, const std::string& port)
    : server_(join_host_port(host, port)), has_credentials_(has_credentials(proxy)) {
    std::string problem = why_not_asked(proxy, server_);
    if (problem.empty()) {
        say(connect_request(proxy, server_));
    } else {
        fail(std::move(problem));
    }
}

void HttpConnect::feed(std::string_view bytes) {
    append(received_, bytes);
    const std::string_view all = view(received_);
    static constexpr std::string_view start = "HTTP/1.";
    if (!start.starts_with(all.substr(0, start.size()))) {
        // Binary data is not quoted.
        const std::string quoted = is_control(all[0]) ? std::string() : quoted_part(all, 40);
        return fail("does not speak HTTP; is it of another kind (https://, socks5://)?" +
                    (quoted.empty() ? "" : " It says " + in_quotes(quoted)));
    }
    for (std::size_t i = all.find('\n', searched_); i != std::string_view::npos;
         i = all.find('\n', i + 1)) {
        const std::string_view rest = all.substr(i + 1);
        const std::size_t blank = rest.starts_with("\n") ? 1 : rest.starts_with("\r\n") ? 2 : 0;
        if (blank == 0) continue;
        if (i > max_connect_head_size) break;
        return read_head(all.substr(0, i), rest.substr(blank));
    }
    // The end marker may have arrived in part.
    searched_ = all.size() > 2 ? all.size() - 2 : 0;
    if (all.size() > max_connect_head_size) fail("sent a head larger than 64 KiB");
}

void HttpConnect::read_head(std::string_view head, std::string_view rest) {
    // " 200 ", " 200\r" or " 200"; the head may end early.
    const std::string_view code = head.substr(std::min<std::size_t>(8, head.size()), 5);
    const bool is_number = code.size() >= 4 && code[0] == ' ' &&
                           std::all_of(code.begin() + 1, code.begin() + 4, is_digit) &&
                           (code.size() == 4 || !is_digit(code[4]));
    const int status = is_number ? std::stoi(std::string(code.substr(1, 3))) : 0;
    if (status < 100 || status > 599) return fail("does not speak HTTP: its status is no number");
    if (status >= 200 || status == 101) {
        return judge(static_cast<unsigned>(status), head, rest);
    }
    if (++interim_heads_ > max_interim_answers) return fail("sends interim responses without end");
    const CleansedBytes next(rest.begin(), rest.end());
    received_.clear();
    searched_ = 0;
    if (!next.empty()) feed(view(next));
}

void HttpConnect::judge(unsigned status, std::string_view head, std::string_view rest) {
    if (status >= 200 && status < 300) return finish_unless_more(rest);
    std::string problem;
    // 401 is a status of servers, but tinyproxy sends it for a wrong password.
    if (status == 407 || status == 401) {
        return fail(credentials_problem(status, head));
    } else if (status == 403) {
        problem = "refuses a connection to " + server_ + " (" + status_text(head) +
                  "); its rules must allow CONNECT to this host and port";
    } else if (status >= 500 && status != 501) {
        problem = "cannot reach " + server_ + " (" + status_text(head) + ")";
    } else {
        problem =
            "answers CONNECT to " + server_ + " with " + status_text(head) + "; is it a proxy?";
    }
    const std::string quoted = body_text(rest);
    if (!quoted.empty())
        problem += (problem.ends_with('?') ? " It says: " : ". It says: ") + quoted;
    fail(std::move(problem));
}

std::string HttpConnect::credentials_problem(unsigned status, std::string_view head) const {
    const std::string code = " (" + std::to_string(status) + ")";
    constexpr std::size_t max_schemes = 5;
    std::vector<std::string> schemes;
    bool basic = false;
    for (const std::string_view value : fields_of(head, "proxy-authenticate")) {
        const std::string_view scheme = value.substr(0, value.find_first_of(" ,"));
        basic = basic || lower_case(scheme) == "basic";
        if (!scheme.empty() && schemes.size() < max_schemes) {
            schemes.push_back(quoted_part(scheme, 20));
        }
    }
    if (!schemes.empty() && !basic) {
        return "demands credentials of the kind " + join(schemes, " or ") + code +
               ", and only Basic is supported";
    }
    return has_credentials_
               ? "does not accept the user and password of its URL" + code
               : "demands credentials" + code + ": put user:password@ before the host in its URL";
}

}  // namespace k8s_sd::inline v0::detail
