#include "sim/api_server_fixture.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace k8s_sd::test;

TEST_CASE("ApiServer: answers can be prescribed") {
    Fixture f;
    auto client = f.client();
    Response busy = Response::failure(429, "TooManyRequests", "slow down");
    busy.headers.emplace_back("Retry-After", "7");
    f.server.fail_next(busy, 2, "/api/v1/pods");
    client.get("/api/v1/nodes");
    CHECK(client.status() == 200);
    for (int i = 0; i < 2; ++i) {
        client.get("/api/v1/pods");
        CHECK(client.status() == 429);
        CHECK(client.header().find("Retry-After: 7") != std::string::npos);
        CHECK(client.object().at("reason") == "TooManyRequests");
    }
    client.get("/api/v1/pods");
    CHECK(client.status() == 200);

    f.server.set_intercept([](const k8s_sd::sim::Request& request) -> std::optional<Response> {
        if (request.is_watch()) return std::nullopt;
        Response page;
        page.status = 502;
        page.content_type = "text/html";
        page.body = "<html>";
        return page;
    });
    client.get("/api/v1/pods");
    CHECK(client.status() == 502);
    CHECK(client.body() == "<html>");
}

TEST_CASE("ApiServer: answers can be cut, dropped or withheld") {
    Fixture f;
    Response cut;
    cut.body = std::string(100, 'x');
    cut.framing = Response::Framing::chunked;
    cut.cut_after = 10;
    f.server.fail_next(cut);
    auto first = f.client();
    first.get("/api/v1/pods");
    CHECK(first.body() == std::string(10, 'x'));
    CHECK_FALSE(first.ended());
    CHECK(first.closed());

    f.server.fail_next(Response::disconnect());
    auto second = f.client();
    second.get("/api/v1/pods");
    CHECK(second.received().empty());
    CHECK(second.closed());

    f.server.fail_next(Response::never());
    auto third = f.client();
    third.get("/api/v1/pods");
    CHECK(third.received().empty());
    CHECK_FALSE(third.closed());
    CHECK(f.server.requests().back().status == 0);
    third.close();
    CHECK(f.server.open_connections() == 0);
}

TEST_CASE("ApiServer: connections can be refused and accepted again") {
    Fixture f;
    auto before = f.client();
    f.server.accept_connections(false);
    auto refused = f.client();
    CHECK(refused.error() == asio::error::connection_refused);
    before.get("/api/v1/pods");
    CHECK(before.status() == 200);
    f.server.disconnect_all();
    f.settle();
    CHECK(before.closed());
    f.server.accept_connections(true);
    auto again = f.client();
    again.get("/api/v1/pods");
    CHECK(again.status() == 200);
}

TEST_CASE("ApiServer: clients see the end when the server is destroyed") {
    asio::io_context context;
    auto server = std::make_unique<ApiServer>(context.get_executor());
    RawClient client(context, server->connector());
    const auto connector = server->connector();
    client.get("/api/v1/pods?watch=1");
    CHECK(client.status() == 200);
    server.reset();
    settle(context);
    CHECK(client.closed());
    RawClient late(context, connector);
    CHECK(late.error() == asio::error::connection_refused);
}

TEST_CASE("ApiServer: a server whose context never runs again leaves nothing behind") {
    asio::io_context context;
    ApiServer server(context.get_executor());
    RawClient client(context, server.connector());
    client.get("/api/v1/pods?watch=1");
    server.apply(R"({"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}})");
    CHECK(server.open_watches() == 1);  // the leak checker verifies the rest
}

TEST_CASE("MemoryConnector: the operation with the given number fails, then the network heals") {
    Fixture f;
    for (std::size_t n = 0; n < 4; ++n) {
        TransportFaults faults;
        faults.fail_operation = n;
        const auto connector = f.server.connector(faults);
        RawClient client(f.context, connector);
        client.get("/api/v1/pods");
        CHECK(connector->failed());
        CHECK(client.error() == asio::error::connection_reset);
        RawClient next(f.context, connector);
        next.get("/api/v1/pods");
        CHECK(next.status() == 200);
    }
}

TEST_CASE("MemoryConnector: a connection breaks exactly behind the given number of bytes") {
    Fixture f;
    auto whole = f.client();
    whole.get("/api/v1/pods");
    const std::string answer = whole.received();
    for (std::size_t n = 1; n < answer.size(); n += 7) {
        TransportFaults faults;
        faults.fail_after_bytes = n;
        auto client = f.client(faults);
        client.get("/api/v1/pods");
        CHECK(client.received() == answer.substr(0, n));
        CHECK(client.error() == asio::error::connection_reset);
    }
}

TEST_CASE("MemoryConnector: the server keeps nothing of a client's context") {
    Fixture f;
    asio::io_context context;
    // A copy of this executor keeps the context from stopping.
    const auto connector = f.server.connector();
    auto stream = connector->make_stream(asio::prefer(asio::any_io_executor(context.get_executor()),
                                                      asio::execution::outstanding_work.tracked),
                                         {});
    stream->async_connect([](k8s_sd::error_code, const std::string&) {});
    context.poll();
    CHECK_FALSE(context.stopped());
    stream.reset();
    context.poll();
    CHECK(context.stopped());  // although the server has not noticed yet
}
