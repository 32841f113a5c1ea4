#include "http/http_routes.hpp"
#include "http_loopback.hpp"

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

using namespace http_loopback;

TEST_CASE(
    "HttpServer: answers request after request on one connection, also if they come at once") {
    Running server;
    Client client(server);
    client.send(get("/one?a=1"));
    CHECK(client.head().starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(client.body(12) == "GET /one?a=1");
    client.send(get("/two") + get("/three"));
    client.head();
    CHECK(client.body(9) == "GET /two?");
    client.head();
    CHECK(client.body(11) == "GET /three?");
}

TEST_CASE("HttpServer: HEAD gets the head of GET") {
    Running server;
    Client client(server);
    client.send("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n" + get("/y"));
    const std::string head = client.head();
    CHECK(contains(head, "Content-Length: 7\r\n"));
    CHECK(contains(head, "X-Content-Type-Options: nosniff\r\n"));
    CHECK(client.head().starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(client.body(7) == "GET /y?");
}

TEST_CASE("HttpServer: an answer without a body has none, whatever follows") {
    Running server([](const auto&, const auto& respond) { respond({304}); });
    Client client(server);
    client.send(get("/") + get("/"));
    const std::string head = client.head();
    CHECK(head.starts_with("HTTP/1.1 304"));
    CHECK_FALSE(contains(head, "Content-Length"));
    CHECK(client.head() == head);
}

TEST_CASE("HttpServer: an answer may come later, from another thread") {
    std::promise<HttpServer::Respond> asked;
    Running server([&](const auto&, const auto& respond) { asked.set_value(respond); });
    Client client(server);
    client.send(get("/"));
    auto respond = asked.get_future().get();
    respond(text_reply(200, "late"));
    client.head();
    CHECK(client.body(4) == "late");
}

TEST_CASE("HttpServer: a dropped client is notified") {
    Running server([](const auto&, const auto&) {});
    Client client(server);
    client.send(get("/"));
    CHECK(client.head().starts_with("HTTP/1.1 500"));
}

TEST_CASE("HttpServer: what one request throws ends that request only") {
    Running server([](const HttpServer::Request& request, const auto& respond) {
        if (request.path == "/memory") throw std::bad_alloc();
        if (request.path == "/error") throw std::runtime_error("no luck: none");
        if (request.path == "/late") {
            respond(text_reply(200, "late"));
            throw std::runtime_error("no luck: none");
        }
        echo(request, respond);
    });
    Client client(server);
    client.send(get("/memory") + get("/error") + get("/late") + get("/"));
    CHECK(client.head().starts_with("HTTP/1.1 503"));
    const std::string no_memory = "the request cannot be answered, there is not enough memory\n";
    CHECK(client.body(no_memory.size()) == no_memory);
    CHECK(client.head().starts_with("HTTP/1.1 500"));
    const std::string no_luck = "the request cannot be answered, no luck, none\n";
    CHECK(client.body(no_luck.size()) == no_luck);
    client.head();
    CHECK(client.body(4) == "late");
    client.head();
    CHECK(client.body(6) == "GET /?");
}

TEST_CASE("HttpServer: says where it cannot listen, why, and what to do") {
    const Running first;
    asio::io_context io;
    std::string said;
    try {
        HttpServer(io.get_executor(), first.endpoint(), echo);
    } catch (const std::exception& e) {
        said = e.what();
    }
    CHECK(said == "cannot listen at 127.0.0.1:" + std::to_string(first.endpoint().port()) +
                      ": address already in use; choose another --listen");
}

TEST_CASE("HttpServer: a large body is sent whole to all who ask for it") {
    const auto body = std::make_shared<const std::string>(5'000'000, 'x');
    Running server([&](const auto&, const auto& respond) { respond({200, body}); });
    Client one(server);
    Client other(server);
    one.send(get("/"));
    other.send(get("/"));
    one.head();
    other.head();
    CHECK(one.body(body->size()) == *body);
    CHECK(other.body(body->size()) == *body);
}

TEST_CASE("HttpServer: what is no request or too long is refused in words") {
    Running server(echo, {.head_bytes = 1000, .body_bytes = 100});
    const auto answer = [&](const std::string& text) {
        Client client(server);
        client.send(text);
        return client.rest();
    };
    const std::string long_head =
        answer("GET / HTTP/1.1\r\nX: " + std::string(2000, 'x') + "\r\n\r\n");
    CHECK(long_head.starts_with("HTTP/1.1 431"));
    CHECK(contains(long_head, "Connection: close"));
    CHECK(answer("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n")
              .starts_with("HTTP/1.1 413"));
    CHECK(answer("nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
    CHECK(answer("GET x HTTP/1.1\r\nHost: a\r\n\r\n").starts_with("HTTP/1.1 400"));
}

TEST_CASE("HttpServer: what is between and behind the chunks of a body is bounded") {
    Running server(echo, {.head_bytes = 1000, .spare_bytes = 1000});
    const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    const auto answer = [&](const std::string& begin, const std::string& endless) {
        Client client(server);
        client.send(head + begin);
        boost::system::error_code ec;
        for (int i = 0; i < 1'000 && !ec; ++i) {
            asio::write(client.socket(), asio::buffer(endless), ec);
        }
        // Without a limit, no response is sent before the end of the request.
        client.socket().shutdown(tcp::socket::shutdown_send, ec);
        return client.rest();
    };
    CHECK(answer("5;a=", std::string(1000, 'x')).starts_with("HTTP/1.1 413"));
    // Newer versions of Beast count trailers as a part of the head.
    const std::string refused = answer("0\r\n", "Trailer: x\r\n").substr(0, 12);
    CHECK((refused == "HTTP/1.1 413" || refused == "HTTP/1.1 431"));
    // Long targets within the limit are accepted.
    Client client(server);
    for (int i = 0; i < 3; ++i) {
        client.send(head + "5;a=" + std::string(900, 'x') + "\r\n12345\r\n0\r\n\r\n");
        client.head();
        CHECK(client.body(7) == "POST /?");
    }
}

TEST_CASE("HttpServer: nothing is read behind a request that is refused") {
    Running server;
    for (const char* head :
         {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
          "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n", "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: a\r\nExpect: x\r\nContent-Length: 1\r\n\r\n"}) {
        INFO(head);
        Client client(server);
        client.send(head + get("/evil"));
        const std::string all = client.rest();
        CHECK(all.starts_with("HTTP/1.1 "));
        CHECK(contains(all, "Connection: close\r\n"));
        CHECK_FALSE(contains(all.substr(1), "HTTP/1.1 "));
        CHECK_FALSE(contains(all, "evil"));
    }
}

TEST_CASE("HttpServer: a handler finds the host of an absolute target in Host") {
    Running server([](const HttpServer::Request& request, const auto& respond) {
        respond(text_reply(200, std::string(request.header(boost::beast::http::field::host)) + " " +
                                    std::string(request.path) + " " + std::string(request.query)));
    });
    Client client(server);
    client.send("GET http://b:8080/x?y HTTP/1.1\r\nHost: a\r\n\r\n");
    client.head();
    CHECK(client.body(11) == "b:8080 /x y");
}

TEST_CASE("HttpServer: a waiting client receives 100-continue") {
    Running server([](const HttpServer::Request& request, const auto& respond) {
        respond(text_reply(200, std::string(request.body)));
    });
    Client client(server);
    for (int i = 0; i < 2; ++i) {
        client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                    "Content-Length: 5\r\n\r\n");
        CHECK(client.head() == "HTTP/1.1 100 Continue\r\n\r\n");
        client.send("hello");
        CHECK(client.head().starts_with("HTTP/1.1 200 OK\r\n"));
        CHECK(client.body(5) == "hello");
    }
    // The final response is known already.
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                "Content-Length: 9999999\r\n\r\n");
    CHECK(client.rest().starts_with("HTTP/1.1 413 "));
}

TEST_CASE("HttpServer: answers say when they were given") {
    Running server;
    Client client(server);
    client.send(get("/"));
    const std::string head = client.head();
    const std::size_t at = head.find("\r\nDate: ");
    REQUIRE(at != std::string::npos);
    CHECK(head.substr(at + 8, 31).ends_with(" GMT\r\n"));
}

TEST_CASE("HttpServer: a connection ends with the answer after its time") {
    Running server(echo, {.age = std::chrono::seconds(0)});
    Client client(server);
    client.send(get("/"));
    const std::string all = client.rest();
    CHECK(contains(all, "Connection: close\r\n"));
    CHECK(all.ends_with("GET /?"));
}

TEST_CASE("HttpServer: silence and slowness end a connection") {
    Running silent(echo, {.idle = std::chrono::milliseconds(20)});
    CHECK(Client(silent).rest().empty());
    Running slow(echo, {.request = std::chrono::milliseconds(20)});
    Client client(slow);
    client.send("GET / HT");
    CHECK(client.rest().empty());
}

namespace {

void echo_or_deny(const HttpServer::Request& request, const HttpServer::Respond& respond) {
    if (request.path == "/denied") return respond(text_reply(401, "a token is needed"));
    echo(request, respond);
}

/// A client that keeps its connection between requests.
class IdleClient : public Client {
 public:
    explicit IdleClient(const Running& server, const std::string& path = "/") : Client(server) {
        ask(path);
    }
    void ask(const std::string& path) {
        send(get(path));
        constexpr std::string_view length = "Content-Length: ";
        const std::string text = head();
        body(std::stoul(text.substr(text.find(length) + length.size())));
    }
};

/// Responds to the first request when the test wants it.
class Holding {
 public:
    HttpServer::Handler handler() {
        return [this](const HttpServer::Request&, const HttpServer::Respond& respond) {
            if (!std::exchange(held_, true)) return first_.set_value(respond);
            respond(text_reply(200, "at once"));
        };
    }
    HttpServer::Respond first() { return first_.get_future().get(); }

 private:
    bool held_ = false;
    std::promise<HttpServer::Respond> first_;
};

}  // namespace

TEST_CASE("HttpServer: beyond the limit of connections clients are refused in words, and admitted "
          "when there is room") {
    Holding holding;
    Running server(holding.handler(), {.connections = 1});
    Client first(server);
    first.send(get("/"));
    auto respond = holding.first();
    const std::string refusal = Client(server).rest();
    CHECK(refusal.starts_with("HTTP/1.1 503"));
    CHECK(refusal.ends_with("\r\n\r\ntoo many clients connected\r\n"));
    std::exchange(respond, nullptr)(text_reply(200, "done"));
    first.head();
    CHECK(first.body(4) == "done");
    // The first connection becomes idle soon after its response.
    std::string answer;
    while (!answer.starts_with("HTTP/1.1 200")) {
        Client next(server);
        next.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        answer = next.rest();
    }
    CHECK(first.rest().empty());
}

TEST_CASE("HttpServer: stop() ends idle connections, and others after their answer") {
    std::promise<HttpServer::Respond> asked;
    auto server =
        std::make_unique<Running>([&](const HttpServer::Request& request, const auto& respond) {
            if (request.path == "/wait") return asked.set_value(respond);
            echo(request, respond);
        });
    Client idle(*server);
    idle.send(get("/"));
    idle.head();
    Client waiting(*server);
    waiting.send(get("/wait"));
    auto respond = asked.get_future().get();
    std::jthread stopping([&] { server->stop(); });
    CHECK(idle.rest() == "GET /?");
    std::exchange(respond, nullptr)(text_reply(503, "ending"));
    const std::string answer = waiting.rest();
    CHECK(contains(answer, "Connection: close\r\n"));
    CHECK(answer.ends_with("ending"));
}

TEST_CASE("HttpServer: who does not take an answer does not keep the server from ending") {
    const auto body = std::make_shared<const std::string>(20'000'000, 'x');
    std::promise<void> asked;
    Running server(
        [&](const auto&, const auto& respond) {
            respond({200, body});
            asked.set_value();
        },
        {.ending = std::chrono::milliseconds(20)});
    Client client(server);
    client.send(get("/"));
    asked.get_future().wait();
    client.head();
    server.stop();
    CHECK(client.rest().size() < body->size());
}

TEST_CASE("HttpServer: new clients make room for others, the oldest first") {
    Holding holding;
    Running server(holding.handler(), {.connections = 2});
    Client asking(server);
    asking.send(get("/"));
    auto respond = holding.first();
    Client silent(server);
    const IdleClient next(server);
    CHECK(silent.rest().empty());
    std::exchange(respond, nullptr)(text_reply(200, "done"));
    CHECK(asking.head().starts_with("HTTP/1.1 200"));
}

TEST_CASE("HttpServer: an idle client makes room for others, the one that is idle for the longest "
          "time first") {
    Running server(echo, {.connections = 2});
    IdleClient first(server);
    IdleClient second(server);
    first.ask("/again");
    const IdleClient next(server);
    CHECK(second.rest().empty());
    first.ask("/again");
}

TEST_CASE("HttpServer: a client whose request was refused makes room before all others") {
    Running server(echo_or_deny, {.connections = 3});
    IdleClient idle(server);
    IdleClient refused(server, "/denied");
    Client silent(server);
    silent.send("GET ");  // not complete
    IdleClient probe(server, "/livez");
    CHECK(refused.rest().empty());
    silent.send("/ HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(silent.head().starts_with("HTTP/1.1 200"));
    idle.ask("/again");
    probe.ask("/livez");
}

TEST_CASE("HttpServer: refused clients that take no response make room") {
    Running server(
        [](const HttpServer::Request& request, const HttpServer::Respond& respond) {
            if (request.path == "/livez") return echo(request, respond);
            respond(text_reply(403, std::string(20'000'000, 'x')));
        },
        {.connections = 1});
    Client refused(server);
    refused.send(get("/"));
    refused.head();
    const IdleClient probe(server, "/livez");
}

TEST_CASE("HttpServer: many idle clients do not displace a new one") {
    Running server(echo, {.connections = 4});
    IdleClient first(server);
    IdleClient second(server);
    Client silent(server);
    const IdleClient third(server);
    const IdleClient fourth(server);
    CHECK(first.rest().empty());
    silent.send(get("/"));
    CHECK(silent.head().starts_with("HTTP/1.1 200"));
}

TEST_CASE("HttpServer: who never asks has less time than who asks now and then") {
    Running server(echo, {.silence = std::chrono::milliseconds(20)});
    Client asked(server);
    asked.send(get("/"));
    asked.head();
    asked.body(6);
    CHECK(Client(server).rest().empty());
    asked.send(get("/"));
    CHECK(asked.head().starts_with("HTTP/1.1 200"));
}

TEST_CASE("HttpServer: it is known that a client is gone before its answer") {
    std::promise<std::pair<HttpServer::Respond, HttpServer::Gone>> held;
    Running server(
        [&](const HttpServer::Request& request, const auto& respond) {
            held.set_value({respond, request.client.gone});
        },
        {.unanswered = std::chrono::milliseconds(1)});
    Client client(server);
    client.send(get("/"));
    auto [respond, gone] = held.get_future().get();
    CHECK_FALSE(*gone);
    client.leave();
    while (!*gone) std::this_thread::yield();
    std::exchange(respond, nullptr)(text_reply(200, "without a reader"));
}

TEST_CASE("HttpRoutes: paths are matched as they were sent and decoded once") {
    http::HttpRoutes routes;
    routes.get("/sd/{job}", [](const auto& asked) { return text_reply(200, asked.names[0]); });
    routes.get("/sd/{job}/targets", [](const auto& asked) {
        return text_reply(200, asked.names[0] + " targets " + asked.query.at(0).second);
    });
    routes.on("POST", "/-/reload",
              [](const auto&, const auto& respond) { respond(text_reply(200, "done")); });
    const auto answer = [&](std::string_view method, std::string_view path,
                            std::string_view query = {}) {
        HttpServer::Reply result;
        const boost::beast::http::fields headers;
        const HttpServer::Client client;
        routes({method, path, query, {}, client, headers},
               [&](HttpServer::Reply reply) { result = reply; });
        return result;
    };
    CHECK(*answer("GET", "/sd/serviceMonitor%2Fns%2Fx%2F0").body == "serviceMonitor/ns/x/0");
    CHECK(*answer("GET", "/sd/a%252Fb+c").body == "a%2Fb+c");
    CHECK(*answer("GET", "/sd/a/targets", "node=x%20y").body == "a targets x y");
    CHECK(answer("GET", "/sd/a%zz").status == 400);
    CHECK(answer("GET", "/sd/a", "x=%").status == 400);
    for (const char* path :
         {"/", "/sd", "/sd/", "/sd/a/", "/sd/a/other", "/sd//targets", "/SD/a"}) {
        CHECK(answer("GET", path).status == 404);
    }
    CHECK(contains(*answer("GET", "/other").body, "GET /sd/{job}/targets\n"));
    const auto refused = answer("DELETE", "/sd/a");
    CHECK(refused.status == 405);
    CHECK(*refused.body == "only GET, HEAD is allowed here\n");
    CHECK(refused.headers.back().second == "GET, HEAD");
    CHECK(answer("GET", "/-/reload").headers.back().second == "POST");
    CHECK(answer("POST", "/-/reload").status == 200);
}
