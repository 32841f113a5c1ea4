#include "k8s_sd/detail/transport/address_race.hpp"
#include "support/loopback.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using asio::ip::make_address;
using test::Loopback;
using test::Outcome;
using Addresses = std::vector<asio::ip::address>;

Addresses addresses(const std::vector<std::string>& texts) {
    Addresses result;
    for (const std::string& text : texts) result.push_back(make_address(text));
    return result;
}

/// Resolves names when the test decides.
class HeldResolver final : public Resolver {
 public:
    void async_resolve(const std::string& host, Handler handler) override {
        asked.push_back(host);
        waiting.push_back(std::move(handler));
    }
    void answer(error_code ec, const Addresses& result = {}) {
        const Handler handler = std::move(waiting.front());
        waiting.erase(waiting.begin());
        handler(ec, result);
    }
    std::vector<std::string> asked;
    std::vector<Handler> waiting;
};

/// Answers at once, from within the call.
class FixedResolver final : public Resolver {
 public:
    explicit FixedResolver(Addresses a) : result(std::move(a)) {}
    void async_resolve(const std::string&, Handler handler) override { handler({}, result); }
    Addresses result;
};

/// A port of 127.0.0.2 whose queue of connections is full: packets to it are dropped.
struct BlackHole {
    explicit BlackHole(unsigned short port) {
        const Loopback::tcp::endpoint endpoint(make_address("127.0.0.2"), port);
        acceptor.open(endpoint.protocol());
        acceptor.bind(endpoint);
        acceptor.listen(0);
        for (int i = 0; i < 4; ++i) {
            fill.emplace_back(io).async_connect(endpoint, [](error_code) {});
        }
        io.run_for(50ms);
    }
    asio::io_context io;
    Loopback::tcp::acceptor acceptor{io};
    std::vector<Loopback::tcp::socket> fill;
};

TEST_CASE("interleave_families: families take turns, beginning with the first") {
    CHECK(interleave_families({}).empty());
    CHECK(interleave_families(addresses({"::1", "::2", "1.1.1.1", "::3", "2.2.2.2"})) ==
          addresses({"::1", "1.1.1.1", "::2", "2.2.2.2", "::3"}));
    CHECK(interleave_families(addresses({"1.1.1.1", "2.2.2.2", "1.1.1.1", "::1"})) ==
          addresses({"1.1.1.1", "::1", "2.2.2.2"}));
}

TEST_CASE("TCP stream: an address that does not answer does not hold up the next one") {
    Loopback net;
    const BlackHole hole(net.acceptor.local_endpoint().port());
    net.dialing.resolver = std::make_shared<FixedResolver>(addresses({"127.0.0.2", "127.0.0.1"}));
    const auto begin = std::chrono::steady_clock::now();
    REQUIRE(net.connect(net.make_client({}, "kubernetes.example")));
    CHECK_FALSE(*net.connected.ec);
    CHECK(std::chrono::steady_clock::now() - begin < 1s);
    CHECK(net.transfer(*net.client, *net.server, "question") == "question");
    CHECK(net.transfer(*net.server, *net.client, "answer") == "answer");
}

TEST_CASE("TCP stream: the next address is tried after 250 ms, or as soon as one has failed") {
    Loopback net;
    const auto clock = std::make_shared<test::ManualClock>();
    net.dialing.clock = clock;
    const BlackHole hole(net.acceptor.local_endpoint().port());
    SECTION("no answer") {
        net.dialing.resolver =
            std::make_shared<FixedResolver>(addresses({"127.0.0.2", "127.0.0.1"}));
        net.client = net.make_client({}, "kubernetes.example");
        net.client->async_connect(net.on_connect(net.connected));
        net.io.poll();
        CHECK_FALSE(net.connected.done());
        CHECK(clock->next_expiry() == clock->now() + 250ms);
        clock->advance(250ms);
    }
    SECTION("refused") {
        net.dialing.resolver =
            std::make_shared<FixedResolver>(addresses({"127.0.0.3", "127.0.0.1"}));
        net.client = net.make_client({}, "kubernetes.example");
        net.client->async_connect(net.on_connect(net.connected));
    }
    REQUIRE(net.run_until([&] { return net.connected.done(); }));
    CHECK_FALSE(*net.connected.ec);
    CHECK(clock->next_expiry() == TimePoint::max());
}

TEST_CASE("TCP stream: close ends all attempts") {
    Loopback net;
    const BlackHole hole(net.acceptor.local_endpoint().port());
    net.dialing.clock = std::make_shared<test::ManualClock>();
    net.dialing.resolver = std::make_shared<FixedResolver>(addresses({"127.0.0.2", "127.0.0.4"}));
    net.client = net.make_client({}, "kubernetes.example");
    net.client->async_connect(net.on_connect(net.connected));
    net.io.poll();
    net.client->close();
    net.drain();
    CHECK(net.connected.ec == asio::error::operation_aborted);
    CHECK(net.connected.calls == 1);
}

TEST_CASE("TCP stream: when no address answers, the text names them") {
    Loopback net;
    std::string port;
    {
        const Loopback closed;
        port = closed.port();
    }
    const auto text_for = [&](const std::vector<std::string>& texts) {
        net.dialing.resolver = std::make_shared<FixedResolver>(addresses(texts));
        net.connected = {};
        net.client = make_client_stream(net.strand, {"kubernetes.example", port, {}}, net.dialing);
        net.client->async_connect(net.on_connect(net.connected));
        net.drain();
        CHECK(net.connected.ec);
        return net.connected.text;
    };
    const std::string peer = "kubernetes.example:" + port;
    CHECK(text_for({"127.0.0.1"}) == "connection refused by " + peer);
    CHECK(text_for({"127.0.0.1", "127.0.0.2"}) ==
          "cannot connect to " + peer +
              ": 127.0.0.1: connection refused; 127.0.0.2: connection refused");
    const std::string many =
        text_for({"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6"});
    CHECK(many.ends_with("127.0.0.4: connection refused; and 2 more"));
    CHECK(text_for({}).starts_with("cannot resolve kubernetes.example: "));
}

TEST_CASE("TCP stream: nothing goes out in the clear before TLS") {
    Loopback net;
    net.dialing.resolver = std::make_shared<HeldResolver>();
    const auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
    net.client = net.make_client(ClientTls{context, "kubernetes.example"}, "kubernetes.example");
    net.client->async_connect(net.on_connect(net.connected));
    Outcome written;
    net.client->async_write(asio::buffer("secret", 6), net.on_io(written));
    CHECK_FALSE(written.done());
    net.io.poll();
    CHECK(written.ec == asio::error::not_connected);
    net.client->close();
    net.drain();
}

TEST_CASE("TCP stream: a name is looked up once for all who wait") {
    Loopback net;
    const auto resolver = std::make_shared<HeldResolver>();
    net.dialing.resolver = resolver;
    std::vector<std::unique_ptr<ByteStream>> streams;
    std::vector<Outcome> outcomes(10);
    const auto begin = [&](std::size_t i, const std::string& host) {
        streams.push_back(net.make_client({}, host));
        streams.back()->async_connect(net.on_connect(outcomes[i]));
    };
    for (std::size_t i = 0; i < 8; ++i) begin(i, "a.example");
    begin(8, "b.example");
    CHECK(resolver->asked == std::vector<std::string>{"a.example", "b.example"});

    streams[0].reset();
    resolver->answer(asio::error::host_not_found);
    net.io.poll();
    CHECK(outcomes[0].ec == asio::error::operation_aborted);
    for (std::size_t i = 1; i < 8; ++i) {
        CHECK(outcomes[i].ec == asio::error::host_not_found);
        CHECK(outcomes[i].text == "cannot resolve a.example: host not found (authoritative)");
    }
    begin(9, "a.example");  // the response is not cached
    CHECK(resolver->asked.size() == 3);
    streams.clear();
    net.drain();
}

TEST_CASE("TCP stream: who waits for a lookup is work of the context until it is closed") {
    Loopback net;
    const auto resolver = std::make_shared<HeldResolver>();
    net.dialing.resolver = resolver;
    net.client = net.make_client({}, "a.example");
    net.client->async_connect(net.on_connect(net.connected));
    CHECK(net.io.run_for(20ms) == 0);
    CHECK_FALSE(net.io.stopped());
    net.client->close();
    net.drain();
    CHECK(net.connected.ec == asio::error::operation_aborted);

    // No caller waits for the response any more, so the next one starts a new lookup, but uses the
    // old response if it arrives.
    net.client = net.make_client({}, "a.example");
    net.connected = {};
    net.client->async_connect(net.on_connect(net.connected));
    CHECK(resolver->asked.size() == 2);
    resolver->answer({}, addresses({"127.0.0.1"}));
    REQUIRE(net.run_until([&] { return net.connected.done(); }));
    CHECK_FALSE(*net.connected.ec);
}

TEST_CASE("TCP stream: lookups that hang are two for a name at most") {
    Loopback net;
    const auto resolver = std::make_shared<HeldResolver>();
    net.dialing.resolver = resolver;
    const auto begin = [&] {
        net.client = net.make_client({}, "a.example");
        net.connected = {};
        net.client->async_connect(net.on_connect(net.connected));
    };
    const auto succeeds = [&] {
        net.io.restart();
        return net.run_until([&] { return net.connected.done(); }) && !*net.connected.ec;
    };
    for (int i = 0; i < 10; ++i) {
        begin();
        net.client->close();
        net.drain();
    }
    CHECK(resolver->asked.size() == 2);

    // A later caller is served by the first response.
    begin();
    std::swap(resolver->waiting[0], resolver->waiting[1]);
    resolver->answer({}, addresses({"127.0.0.1"}));
    CHECK(succeeds());
    CHECK(resolver->asked.size() == 2);

    // One lookup still hangs; the other callers start new ones.
    for (std::size_t asked = 3; asked < 6; ++asked) {
        begin();
        CHECK(resolver->asked.size() == asked);
        std::swap(resolver->waiting.front(), resolver->waiting.back());
        resolver->answer({}, addresses({"127.0.0.1"}));
        CHECK(succeeds());
    }
    CHECK(resolver->waiting.size() == 1);
}

TEST_CASE("TCP stream: a lookup that never answers does not hold up the end of its context") {
    const auto resolver = std::make_shared<HeldResolver>();
    std::weak_ptr<ByteStream> alive;
    {
        Loopback net;
        net.dialing.resolver = resolver;
        std::shared_ptr<ByteStream> stream = net.make_client({}, "a.example");
        stream->async_connect([stream](error_code, std::string) {});
        alive = stream;
        stream.reset();
        net.io.poll();
        CHECK_FALSE(alive.expired());
    }
    CHECK(alive.expired());
    resolver->answer({}, addresses({"127.0.0.1"}));  // its context is destroyed
}

TEST_CASE("TCP stream: a resolver that throws is a failure to connect") {
    struct Throwing final : Resolver {
        void async_resolve(const std::string&, Handler) override {
            throw std::runtime_error("no resolver here");
        }
    };
    Loopback net;
    net.dialing.resolver = std::make_shared<Throwing>();
    net.client = net.make_client({}, "a.example");
    net.client->async_connect(net.on_connect(net.connected));
    net.drain();
    CHECK(net.connected.ec == errc::connector_failed);
    CHECK(net.connected.text == "cannot resolve a.example: no resolver here");
}

TEST_CASE("TCP stream: lookups of several threads end with their context or before") {
    // Responses arrive from other threads while contexts are destroyed.
    for (int round = 0; round < 30; ++round) {
        Loopback net;
        net.client = net.make_client({}, "localhost");
        net.client->async_connect(net.on_connect(net.connected));
        if (round % 3 == 0) continue;
        if (round % 3 == 1) net.client->close();
        net.io.run_for(1ms);
    }
}

/// The descriptors of this process that children would inherit.
std::size_t inherited_sockets() {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const std::string to = std::filesystem::read_symlink(entry.path(), gone).string();
        const int descriptor = std::stoi(entry.path().filename().string());
        const int flags = ::fcntl(descriptor, F_GETFD);
        if (to.starts_with("socket:") && flags >= 0 && (flags & FD_CLOEXEC) == 0) ++count;
    }
    return count;
}

TEST_CASE("TCP stream: children of the host do not inherit connections") {
    Loopback net;
    const std::size_t before = inherited_sockets();
    REQUIRE(net.connect(net.make_client()));
    CHECK(inherited_sockets() == before);
}

TEST_CASE("system_resolver: finds localhost, and says so when there is nothing") {
    std::promise<std::pair<error_code, Addresses>> found, missing;
    const auto resolver = system_resolver();
    resolver->async_resolve("localhost", [&](error_code ec, Addresses a) {
        found.set_value({ec, std::move(a)});
    });
    resolver->async_resolve("does-not-exist.invalid", [&](error_code ec, Addresses a) {
        missing.set_value({ec, std::move(a)});
    });
    const auto [ec, result] = found.get_future().get();
    CHECK_FALSE(ec);
    REQUIRE_FALSE(result.empty());
    CHECK(result.front().is_loopback());
    CHECK(missing.get_future().get().first);
}

}  // namespace
}  // namespace k8s_sd::detail
