#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/detail/transport/proxy/http_connect.hpp"
#include "k8s_sd/detail/transport/proxy/proxy_target.hpp"
#include "k8s_sd/detail/transport/proxy/socks5.hpp"
#include "support/contains.hpp"

#include <catch2/catch_test_macros.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::string_literals;
using test::contains;
using State = ProxyDialog::State;

/// The end of a dialog, and its bytes.
struct Ending {
    State state = State::talking;
    std::string problem;
    std::string said;
};

/// \param answers  one after each message of the client
/// \param piece    number of bytes per read
Ending play(ProxyDialog& dialog, const std::vector<std::string>& answers,
            std::size_t piece = std::string::npos) {
    Ending ending;
    const auto listen = [&] { ending.said += view(dialog.take_output()); };
    listen();
    for (const std::string& answer : answers) {
        for (std::size_t i = 0; i < answer.size() && dialog.state() == State::talking;) {
            const std::string part = answer.substr(i, piece);
            dialog.feed(part);
            i += part.size();
        }
        listen();
    }
    ending.state = dialog.state();
    ending.problem = dialog.problem();
    return ending;
}

ProxyTarget with_login(std::string username, std::string password) {
    ProxyTarget proxy;
    proxy.host = "proxy";
    proxy.port = "3128";
    proxy.username = std::move(username);
    proxy.password = std::move(password);
    return proxy;
}

Ending connect(const std::string& answer, const ProxyTarget& proxy = {},
               std::size_t piece = std::string::npos) {
    HttpConnect dialog(proxy, "api.corp", "6443");
    return play(dialog, {answer}, piece);
}

/// The problem of that response, regardless of its chunking.
std::string connect_problem(const std::string& answer, const ProxyTarget& proxy = {}) {
    const Ending ending = connect(answer, proxy);
    CHECK(ending.state == State::failed);
    return ending.problem;
}

TEST_CASE("HttpConnect: asks for the server, with credentials and headers") {
    CHECK(connect("").said ==
          "CONNECT api.corp:6443 HTTP/1.1\r\nHost: api.corp:6443\r\nUser-Agent: k8s_sd/0.1.0\r\n"
          "\r\n");
    ProxyTarget proxy = with_login("u@corp", "p:a ss");
    proxy.connect_headers = {{"X-A", "1", ""},
                             {"user-agent", "mine", ""},
                             {"Host", "elsewhere", ""},
                             {"Proxy-Authorization", "Bearer t", ""}};
    CHECK(connect("", proxy).said ==
          "CONNECT api.corp:6443 HTTP/1.1\r\nHost: api.corp:6443\r\nX-A: 1\r\nuser-agent: mine\r\n"
          "Proxy-Authorization: Basic dUBjb3JwOnA6YSBzcw==\r\n\r\n");
    proxy.username = proxy.password = "";
    CHECK(contains(connect("", proxy).said, "\r\nProxy-Authorization: Bearer t\r\n"));
    HttpConnect v6({}, "fd00::1", "443");
    CHECK(play(v6, {}).said.starts_with("CONNECT [fd00::1]:443 HTTP/1.1\r\nHost: [fd00::1]:443"));
}

TEST_CASE("HttpConnect: says nothing that could be taken for something else") {
    const auto silent = [](const ProxyTarget& proxy, const std::string& host) {
        HttpConnect dialog(proxy, host, "443");
        const Ending ending = play(dialog, {});
        CHECK(ending.state == State::failed);
        CHECK(ending.said == "");
        return ending.problem;
    };
    CHECK(contains(silent({}, "a\r\nX: y"), "blanks or control characters"));
    CHECK(contains(silent({}, "a b"), "blanks or control characters"));
    ProxyTarget proxy;
    for (const HttpHeader& header : {HttpHeader{"X", "a\r\nY: b", ""}, HttpHeader{"X Y", "a", ""},
                                     HttpHeader{"X\r\n", "a", ""}, HttpHeader{"X:", "a", ""},
                                     HttpHeader{"", "a", ""}, HttpHeader{"X", "a\0b"s, ""}}) {
        proxy.connect_headers = {header};
        CHECK(contains(silent(proxy, "h"), "cannot be a header of CONNECT"));
    }
    proxy.connect_headers = {{"X", "", "/file"}};
    CHECK(contains(silent(proxy, "h"), "names a file, which is not supported"));
}

TEST_CASE("HttpConnect: what opens the way") {
    for (const std::string answer :
         {"HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200 OK\r\nA: b\r\n\r\n",
          "HTTP/1.1 200\r\n\r\n", "HTTP/1.1 200 OK\n\n", "HTTP/1.1 204 \r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 "
          "OK\r\n\r\n"}) {
        INFO(answer);
        for (const std::size_t piece : {std::string::npos, 1ul, 2ul, 3ul, 7ul}) {
            const Ending ending = connect(answer, {}, piece);
            CHECK(ending.state == State::done);
            CHECK(ending.problem == "");
        }
        for (std::size_t size = 0; size + 1 < answer.size(); ++size) {
            CHECK(connect(answer.substr(0, size)).state == State::talking);
        }
    }
}

TEST_CASE("HttpConnect: refusals say whose they are and what to do") {
    const ProxyTarget login = with_login("u", "sesame");
    struct Case {
        std::string answer, problem;
        ProxyTarget proxy{};
    };
    const Case cases[] = {
        {"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=x\r\n\r\n",
         "demands credentials (407): put user:password@ before the host in its URL"},
        {"HTTP/1.1 407 x\r\nproxy-authenticate: BASIC\r\n\r\n",
         "does not accept the user and password of its URL (407)", login},
        {"HTTP/1.1 407 x\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM a=b\r\n\r\n",
         "demands credentials of the kind Negotiate or NTLM (407), and only Basic is supported"},
        {"HTTP/1.1 401 Unauthorized\r\n\r\n",
         "does not accept the user and password of its URL (401)", login},
        {"HTTP/1.1 418 Teapot\r\n\r\nshort and stout",
         "answers CONNECT to api.corp:6443 with 418 Teapot; is it a proxy? It says: short and "
         "stout"},
        {"HTTP/1.1 407 x\r\n\r\n",
         "demands credentials (407): put user:password@ before the host in its URL"},
        {"HTTP/1.1 403 Forbidden\r\n\r\n",
         "refuses a connection to api.corp:6443 (403 Forbidden); its rules must allow CONNECT to "
         "this host and port"},
        {"HTTP/1.1 403 Forbidden\r\n\r\nnot on\r\nmy watch",
         "refuses a connection to api.corp:6443 (403 Forbidden); its rules must allow CONNECT to "
         "this host and port. It says: not on my watch"},
        {"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\n\r\n<!DOCTYPE x><html>"
         "<head><TITLE> No route </TITLE>",
         "cannot reach api.corp:6443 (503 Service Unavailable). It says: No route"},
        {"HTTP/1.1 502 Bad\r\n\r\n<html>", "cannot reach api.corp:6443 (502 Bad)"},
        {"HTTP/1.1 404 Not Found\r\n\r\n",
         "answers CONNECT to api.corp:6443 with 404 Not Found; is it a proxy?"},
        {"HTTP/1.1 501 Not Implemented\r\n\r\n",
         "answers CONNECT to api.corp:6443 with 501 Not Implemented; is it a proxy?"},
        {"HTTP/1.1 302 Found\r\nLocation: http://login\r\n\r\n",
         "answers CONNECT to api.corp:6443 with 302 Found; is it a proxy?"},
        {"HTTP/1.1 101 Switching\r\n\r\n",
         "answers CONNECT to api.corp:6443 with 101 Switching; is it a proxy?"},
        {"HTTP/1.1 200 OK\r\n\r\n<html>", "sent data after its answer, before any request"},
    };
    for (const auto& [answer, problem, proxy] : cases) {
        INFO(answer);
        CHECK(connect_problem(answer, proxy) == problem);
    }
}

TEST_CASE("HttpConnect: what is no proxy of HTTP") {
    const std::string other = "does not speak HTTP; is it of another kind (https://, socks5://)?";
    CHECK(connect_problem("\x15\x03\x03\x02\x02") == other);  // a TLS alert
    CHECK(connect_problem("\x05\xff") == other);
    CHECK(connect_problem("<html>Hello") == other + " It says \"<html>Hello\"");
    CHECK(connect_problem("SSH-2.0-OpenSSH\r\n") == other + " It says \"SSH-2.0-OpenSSH\"");
    CHECK(connect_problem("HTTP/2 200\r\n\r\n").starts_with(other));
    for (const std::string status :
         {"", " ", " 20", " 2000", " abc", " -20", " 099", " 600", "x"}) {
        INFO(status);
        CHECK(contains(connect_problem("HTTP/1.1" + status + "\r\n\r\n"), "does not speak HTTP"));
    }
    for (const std::string end : {"\n\n", "\r\n\r\n", "1\n\n", "1 \n\n"}) {
        INFO(end);
        CHECK(contains(connect_problem("HTTP/1." + end), "its status is no number"));
    }
}

TEST_CASE("HttpConnect: an answer without end is not kept") {
    const std::string junk(1000, 'x');
    HttpConnect endless({}, "h", "1");
    endless.feed("HTTP/1.1 200 OK\r\n");
    std::size_t fed = 0;
    while (endless.state() == State::talking) {
        endless.feed("A: " + junk + "\r\n");
        REQUIRE((fed += junk.size()) < 70'000);
    }
    CHECK(endless.problem() == "sent a head larger than 64 KiB");

    const std::string large = "HTTP/1.1 200 OK\r\nA: " + std::string(65'600, 'x') + "\r\n\r\n";
    CHECK(connect_problem(large) == "sent a head larger than 64 KiB");

    std::string interim;
    for (int i = 0; i < 20; ++i) interim += "HTTP/1.1 100 Continue\r\n\r\n";
    CHECK(connect_problem(interim) == "sends interim responses without end");
}

TEST_CASE("HttpConnect: a head of many bytes takes no quadratic time") {
    HttpConnect slow({}, "h", "1");
    const std::string head = "HTTP/1.1 200 OK\r\nA: " + std::string(60'000, 'x') + "\r\n\r\n";
    for (const char c : head) slow.feed({&c, 1});
    CHECK(slow.state() == State::done);
}

TEST_CASE("HttpConnect: what a proxy says is quoted short and printable") {
    const std::string evil =
        "\x1b[31m\r\nk8s_sd: error: forged \xe2\x80\xae" + std::string(9000, 'x');
    for (const std::string& text :
         {connect_problem("HTTP/1.1 500 " + evil + "\r\n\r\n" + evil),
          connect_problem("HTTP/1.1 500 x\r\n\r\n" + evil),
          connect_problem("HTTP/1.1 500 x\r\n\r\n<title>" + evil),
          connect_problem("HTTP/1.1 407 x\r\nProxy-Authenticate: " + evil + "\r\n\r\n"),
          connect_problem(evil)}) {
        INFO(text);
        CHECK(text.size() < 500);
        for (const char c : text) CHECK((c != '\n' && c != '\r' && c != '\x1b'));
        CHECK_FALSE(contains(text, "\xe2\x80\xae"));
    }
}

TEST_CASE("ProxyDialog: an end instead of an answer") {
    HttpConnect http({}, "h", "1");
    http.feed("HTTP/1.1 200");
    http.feed_end();
    CHECK(http.problem() == "closed the connection without an answer");
    Socks5 socks({}, "h", "1");
    socks.feed_end();
    CHECK(socks.state() == State::failed);
}

// SOCKS5

std::string bytes(std::initializer_list<int> values) {
    std::string result;
    for (const int value : values) result += static_cast<char>(value);
    return result;
}

const std::string no_login = bytes({5, 0});
const std::string wants_login = bytes({5, 2});
const std::string login_ok = bytes({1, 0});
const std::string connected = bytes({5, 0, 0, 1, 10, 0, 0, 1, 31, 144});

Ending socks(const std::vector<std::string>& answers, const ProxyTarget& proxy = {},
             const std::string& host = "api.corp", std::size_t piece = std::string::npos) {
    Socks5 dialog(proxy, host, "6443");
    return play(dialog, answers, piece);
}

TEST_CASE("Socks5: a name goes to the proxy, a literal as an address") {
    const std::string port = bytes({25, 43});
    const std::string hello = bytes({5, 1, 0});
    const std::vector<std::string> answers = {no_login, connected};
    CHECK(socks(answers).said == hello + bytes({5, 1, 0, 3, 8}) + "api.corp" + port);
    CHECK(socks(answers, {}, "10.1.2.3").said == hello + bytes({5, 1, 0, 1, 10, 1, 2, 3}) + port);
    CHECK(socks(answers, {}, "fd00::1").said ==
          hello + bytes({5, 1, 0, 4, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}) + port);
}

TEST_CASE("Socks5: what opens the way, however it arrives") {
    const std::string by_name = bytes({5, 0, 0, 3, 3}) + "abc" + bytes({0, 0});
    const std::string v6 = bytes({5, 0, 0, 4}) + std::string(18, '\0');
    const ProxyTarget login = with_login("u", "p");
    for (const std::string& answer : {connected, by_name, v6}) {
        for (const std::size_t piece : {std::string::npos, 1ul, 2ul, 3ul}) {
            CHECK(socks({no_login, answer}, {}, "h", piece).state == State::done);
            CHECK(socks({no_login, answer}, login, "h", piece).state == State::done);
            CHECK(socks({wants_login, login_ok, answer}, login, "h", piece).state == State::done);
        }
        for (std::size_t size = 0; size < answer.size(); ++size) {
            CHECK(socks({no_login, answer.substr(0, size)}).state == State::talking);
        }
    }
}

TEST_CASE("Socks5: user and password") {
    const ProxyTarget login = with_login("me", "sesame");
    const Ending ending = socks({wants_login, login_ok, connected}, login, "h");
    CHECK(ending.said == bytes({5, 2, 0, 2}) + bytes({1, 2}) + "me" + bytes({6}) + "sesame" +
                             bytes({5, 1, 0, 3, 1}) + "h" + bytes({25, 43}));
    CHECK(socks({wants_login, bytes({1, 1})}, login).problem ==
          "does not accept the user and password of its URL");
    CHECK(socks({wants_login}).problem == "demands credentials of a kind that is not supported");
    CHECK(socks({bytes({5, 255})}).problem ==
          "demands credentials: put user:password@ before the host in its URL");
    CHECK(socks({bytes({5, 255})}, login).problem ==
          "demands credentials of a kind that is not supported");
    CHECK(socks({bytes({5, 1})}, login).problem ==
          "demands credentials of a kind that is not supported");
}

TEST_CASE("Socks5: refusals say why") {
    const auto problem = [](int code) {
        return socks({no_login, bytes({5, code, 0, 1, 0, 0, 0, 0, 0, 0})}).problem;
    };
    const std::string to = "cannot connect to api.corp:6443: ";
    CHECK(problem(1) == to + "it failed (SOCKS5 code 1)");
    CHECK(problem(2) == to + "its rules do not allow it (SOCKS5 code 2)");
    CHECK(problem(3) == to + "the network cannot be reached (SOCKS5 code 3)");
    CHECK(problem(4) == to + "the host is unknown or cannot be reached (SOCKS5 code 4)");
    CHECK(problem(5) == to + "the connection is refused (SOCKS5 code 5)");
    CHECK(problem(6) == to + "the time to live of a packet has expired (SOCKS5 code 6)");
    CHECK(problem(7) == to + "it does not know the command (SOCKS5 code 7)");
    CHECK(problem(8) == to + "it does not know this kind of address (SOCKS5 code 8)");
    CHECK(problem(9) == to + "unknown reason (SOCKS5 code 9)");
    CHECK(problem(255) == to + "unknown reason (SOCKS5 code 255)");
    CHECK(socks({no_login, bytes({5, 5})}).problem ==
          to + "the connection is refused (SOCKS5 code 5)");
}

TEST_CASE("Socks5: what is no proxy of SOCKS5") {
    CHECK(contains(socks({"HTTP/1.1 400 Bad Request\r\n"}).problem, "does not speak SOCKS5"));
    CHECK(contains(socks({bytes({4})}).problem, "does not speak SOCKS5"));
    CHECK(contains(socks({bytes({0x15, 3, 3})}).problem, "does not speak SOCKS5"));
    CHECK(contains(socks({no_login, bytes({4, 0, 0, 1})}).problem, "another version"));
    CHECK(contains(socks({no_login, bytes({5, 0, 0, 9, 9})}).problem, "unknown kind of address"));
    CHECK(socks({no_login + "x"}).problem == "sent data after its answer");
    CHECK(socks({no_login, connected + "x"}).problem ==
          "sent data after its answer, before any request");
}

TEST_CASE("Socks5: what does not fit into its messages is not sent") {
    const auto problem = [](const ProxyTarget& proxy, const std::string& host,
                            const std::string& port) {
        Socks5 dialog(proxy, host, port);
        CHECK(dialog.state() == State::failed);
        CHECK(dialog.take_output().empty());
        return dialog.problem();
    };
    const std::string large(256, 'x');
    CHECK(contains(problem({}, large, "1"), "longer than 255 bytes"));
    CHECK(contains(problem({}, "", "1"), "empty"));
    CHECK(contains(problem({}, "h", "x"), "not a port number"));
    CHECK(contains(problem({}, "h", "65536"), "not a port number"));
    CHECK(contains(problem(with_login(large, "p"), "h", "1"), "longer than 255 bytes"));
    CHECK(contains(problem(with_login("u", large), "h", "1"), "longer than 255 bytes"));
}

TEST_CASE("proxy_target: what a configuration comes to") {
    TlsConfig tls;
    tls.ca_file = "/ca";
    tls.cert_file = "/cert";
    tls.key = "sesame";
    tls.server_name = "api";
    CHECK_FALSE(proxy_target({}, tls));
    const auto https = proxy_target({.url = "https://u:p%40@Proxy"}, tls);
    REQUIRE(https);
    CHECK(to_string(*https) == "https://proxy:443");
    CHECK(https->username == "u");
    CHECK(https->password == "p@");
    CHECK(https->tls.ca_file == "/ca");
    CHECK(https->tls.cert_file == "");  // the proxy does not learn the client's identity
    CHECK(https->tls.key == "");
    CHECK(https->tls.server_name == "");
    CHECK(to_string(*proxy_target({.url = "socks5h://[::1]"}, tls)) == "socks5://[::1]:1080");
    CHECK(proxy_target({.url = "http://p"}, tls)->tls == TlsConfig{});
}

TEST_CASE("proxy_target: its secrets are known to redaction") {
    ProxyTarget proxy = with_login("user", "open sesame");
    proxy.connect_headers = {{"X-Token", "Bearer abracadabra-1", ""}};
    std::vector<std::string> secrets;
    for (const CleansedBytes& secret : secrets_of(proxy)) secrets.emplace_back(view(secret));
    CHECK(secrets ==
          std::vector<std::string>{"dXNlcjpvcGVuIHNlc2FtZQ==", "open sesame", "abracadabra-1"});
    CHECK(secrets_of(ProxyTarget{}).empty());
}

}  // namespace
}  // namespace k8s_sd::detail
