#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"
#include "k8s_sd/detail/text/url_text.hpp"
#include "k8s_sd/detail/transport/proxy/socks5.hpp"

#include <boost/asio/ip/address.hpp>
#include <initializer_list>
#include <iterator>

namespace k8s_sd::inline v0::detail {

namespace {

constexpr unsigned char socks_version = 5;
constexpr unsigned char login_version = 1;
constexpr unsigned char no_login = 0;
constexpr unsigned char with_login = 2;
constexpr unsigned char no_method = 0xff;
constexpr std::size_t max_socks_text_size = 255;

enum SocksAddress : unsigned char { socks_ipv4 = 1, socks_name = 3, socks_ipv6 = 4 };

void append_bytes(CleansedBytes& to, std::initializer_list<unsigned char> bytes) {
    for (const unsigned char byte : bytes) to.push_back(static_cast<char>(byte));
}

/// Appends the text with its length prefix.
void append_socks_text(CleansedBytes& to, std::string_view text) {
    to.push_back(static_cast<char>(text.size()));
    append(to, text);
}

unsigned char byte_at(std::string_view bytes, std::size_t i) {
    return static_cast<unsigned char>(bytes[i]);
}

CleansedBytes login_message(const ProxyTarget& proxy) {
    CleansedBytes message;
    append_bytes(message, {login_version});
    append_socks_text(message, proxy.username);
    append_socks_text(message, proxy.password);
    return message;
}

CleansedBytes connect_message(const std::string& host, std::uint16_t port) {
    constexpr unsigned char connect = 1;
    CleansedBytes message;
    append_bytes(message, {socks_version, connect, 0});
    error_code no_address;
    const auto address = boost::asio::ip::make_address(host, no_address);
    const auto append_address = [&](SocksAddress type, const auto& bytes) {
        append_bytes(message, {type});
        for (const unsigned char byte : bytes) append_bytes(message, {byte});
    };
    if (no_address) {
        append_bytes(message, {socks_name});
        append_socks_text(message, host);
    } else if (address.is_v4()) {
        append_address(socks_ipv4, address.to_v4().to_bytes());
    } else {
        append_address(socks_ipv6, address.to_v6().to_bytes());
    }
    append_bytes(message, {static_cast<unsigned char>(port >> 8U),
                           static_cast<unsigned char>(port & 0xffU)});
    return message;
}

/// Why the values do not fit into the messages; empty: they fit.
std::string why_not_sent(const ProxyTarget& proxy, const std::string& host,
                         const std::string& port) {
    if (!port_number(port)) return "is not asked: not a port number: " + in_quotes(printable(port));
    if (host.empty() || host.size() > max_socks_text_size) {
        return "cannot connect to a name that is empty or longer than 255 bytes";
    }
    if (proxy.username.size() > max_socks_text_size ||
        proxy.password.size() > max_socks_text_size) {
        return "does not accept a user or password longer than 255 bytes";
    }
    return {};
}

}  // namespace

Socks5::Socks5(const ProxyTarget& proxy, const std::string& host, const std::string& port)
    : server_(join_host_port(host, port)) {
    std::string problem = why_not_sent(proxy, host, port);
    if (!problem.empty()) {
        fail(std::move(problem));
        return;
    }
    const bool has_credentials = !proxy.username.empty();
    if (has_credentials) login_ = login_message(proxy);
    request_ = connect_message(host, *port_number(port));
    CleansedBytes greeting;
    append_bytes(greeting, {socks_version, 1, no_login});
    if (has_credentials) {
        greeting[1] = 2;
        append_bytes(greeting, {with_login});
    }
    say(std::move(greeting));
}

void Socks5::feed(std::string_view bytes) {
    received_ += bytes;  // a message has at most 262 bytes, with nothing after the last one
    if (received_.empty()) return;
    const std::size_t used = read_message(received_);
    if (used == 0 || state() == State::failed) return;
    received_.erase(0, used);
    if (state() == State::done) return finish_unless_more(received_);
    // The proxy must wait for the next message of this side, not sent yet.
    if (!received_.empty()) fail("sent data after its answer");
}

std::size_t Socks5::read_message(std::string_view bytes) {
    switch (expected_) {
        case Expected::method: return read_method(bytes);
        case Expected::verdict: return read_verdict(bytes);
        case Expected::reply: break;
    }
    return read_reply(bytes);
}

std::size_t Socks5::read_method(std::string_view bytes) {
    if (byte_at(bytes, 0) != socks_version) {
        fail("does not speak SOCKS5; is it of another kind (http://, https://)?");
        return 0;
    }
    if (bytes.size() < 2) return 0;
    const unsigned char method = byte_at(bytes, 1);
    if (method == no_login) {
        expected_ = Expected::reply;
        say(std::move(request_));
    } else if (method == with_login && !login_.empty()) {
        expected_ = Expected::verdict;
        say(std::move(login_));
    } else if (method == no_method && login_.empty()) {
        fail("demands credentials: put user:password@ before the host in its URL");
    } else {
        fail("demands credentials of a kind that is not supported");
    }
    return 2;
}

std::size_t Socks5::read_verdict(std::string_view bytes) {
    if (bytes.size() < 2) return 0;
    if (byte_at(bytes, 1) != 0) {
        fail("does not accept the user and password of its URL");
        return 0;
    }
    expected_ = Expected::reply;
    say(std::move(request_));
    return 2;
}

std::size_t Socks5::read_reply(std::string_view bytes) {
    constexpr std::size_t before_address = 4;
    if (byte_at(bytes, 0) != socks_version) {
        fail("does not speak SOCKS5: its answer has another version");
        return 0;
    }
    if (bytes.size() < 2) return 0;
    // A refusal may omit the rest.
    if (byte_at(bytes, 1) != 0) {
        refuse(byte_at(bytes, 1));
        return 0;
    }
    if (bytes.size() <= before_address) return 0;
    std::size_t size = before_address + 2;
    switch (byte_at(bytes, 3)) {
        case socks_ipv4: size += 4; break;
        case socks_ipv6: size += 16; break;
        case socks_name: size += 1 + std::size_t{byte_at(bytes, before_address)}; break;
        default: fail("does not speak SOCKS5: its answer has an unknown kind of address"); return 0;
    }
    if (bytes.size() < size) return 0;
    finish();
    return size;
}

void Socks5::refuse(unsigned code) {
    static constexpr std::string_view reasons[] = {
        "it failed",
        "its rules do not allow it",
        "the network cannot be reached",
        "the host is unknown or cannot be reached",
        "the connection is refused",
        "the time to live of a packet has expired",
        "it does not know the command",
        "it does not know this kind of address",
    };
    const std::string_view reason =
        code <= std::size(reasons) ? reasons[code - 1] : std::string_view("unknown reason");
    fail("cannot connect to " + server_ + ": " + std::string(reason) + " (SOCKS5 code " +
         std::to_string(code) + ")");
}

}  // namespace k8s_sd::inline v0::detail
