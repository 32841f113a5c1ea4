// Events with strange bookmarks between them, cut at every byte on their way to the host.

#include "support/effort.hpp"
#include "support/host.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/post.hpp>
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

std::string pod_event(const std::string& name, const std::string& version) {
    return R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":")" +
           name + R"(","namespace":"n","uid":"u-)" + name + R"(","resourceVersion":")" + version +
           R"("},"spec":{"containers":[{"name":"c"}]},"status":{"phase":"Running","podIP":"10.0.0.9"}}})"
           "\n";
}

/// Three events, with bookmarks between them as real servers have sent them.
std::string stream() {
    const std::vector<std::string> bookmarks{
        R"({"kind":"Pod","metadata":{"resourceVersion":"901","creationTimestamp":null},)"
        R"("spec":null,"status":{}})",
        R"({"metadata":{"resourceVersion":"902"}})",
        R"({"kind":"Pod","metadata":{"resourceVersion":"903","labels":null,"annotations":null},)"
        R"("spec":{"containers":null}})",
        R"({"kind":"Pod","metadata":{}})", "null"};
    std::string text = pod_event("one", "900");
    for (const std::string& object : bookmarks)
        text += R"({"type":"BOOKMARK","object":)" + object + "}\n";
    text += pod_event("two", "910");
    for (const std::string& object : bookmarks)
        text += R"({"type":"BOOKMARK","object":)" + object + "}\n";
    return text + pod_event("three", "920");
}

/// Ends a read at a given byte of the watch, and runs everything else before the next one.
class CuttingConnector final : public Connector {
 public:
    explicit CuttingConnector(std::shared_ptr<Connector> inner) : inner_(std::move(inner)) {}

    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor executor,
                                            const ConnectTarget& target) override {
        return std::make_unique<Stream>(*this, inner_->make_stream(std::move(executor), target));
    }
    /// From now on; counted from the next byte.
    void cut_after(std::size_t bytes) { left_ = bytes; }

 private:
    class Stream final : public ByteStream {
     public:
        Stream(CuttingConnector& connector, std::unique_ptr<ByteStream> inner)
            : connector_(connector), inner_(std::move(inner)) {}
        void async_connect(ConnectHandler handler) override {
            inner_->async_connect(std::move(handler));
        }
        void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
            std::size_t& left = connector_.left_;
            const std::size_t size = left > 0 ? std::min(left, buffer.size()) : buffer.size();
            inner_->async_read_some(
                asio::buffer(buffer, size),
                [&left, handler = std::move(handler)](error_code ec, std::size_t n) {
                    left -= std::min(left, n);
                    handler(ec, n);
                });
        }
        void async_write(asio::const_buffer buffer, IoHandler handler) override {
            inner_->async_write(buffer, std::move(handler));
        }
        void close() noexcept override { inner_->close(); }

     private:
        CuttingConnector& connector_;
        std::unique_ptr<ByteStream> inner_;
    };

    std::shared_ptr<Connector> inner_;
    std::size_t left_ = 0;  ///< bytes until the cut; 0: no cut
};

struct CutWatch : Simulation {
    explicit CutWatch(Duration pause = {})
        : Simulation(json_server(), {}, {}, [](const Environment& environment) {
              return std::make_shared<CuttingConnector>(environment.connector);
          }) {
        DiscoveryConfig config{.watch = plain_lists()};
        config.role = Role::pod;
        config.api_server.url = server.url();
        config.min_update_interval = pause;
        server.apply(pod({.name = "zero", .ns = "n"}));
        host = std::make_unique<Host>(context.get_executor(), config);
        host->run();
        settle();
        advance(2s);
        take_requests();
    }
    void cut_after(std::size_t bytes) {
        static_cast<CuttingConnector&>(*environment().connector).cut_after(bytes);
    }
    bool has_all() const {
        const auto& groups = host->groups;
        return groups.contains("pod/n/one") && groups.contains("pod/n/two") &&
               groups.contains("pod/n/three");
    }

    std::unique_ptr<Host> host;
};

}  // namespace

TEST_CASE("Discoverer: events around bookmarks arrive, wherever the server pauses between them") {
    const std::string text = stream();
    for (const Duration pause : {Duration(0), Duration(1s)}) {
        // The position of the cut does not matter for the delays.
        const std::size_t step = pause == Duration{} ? step_of(7) : 13;
        for (std::size_t cut = 0; cut <= text.size(); cut += step) {
            CutWatch w(pause);
            w.server.send_to_watches("pods", text.substr(0, cut));
            w.settle();
            w.server.send_to_watches("pods", text.substr(cut));
            pause == Duration{} ? w.settle() : w.advance(pause);
            if (!w.has_all() || !w.take_requests().empty()) FAIL("cut at " << cut);
        }
    }
}

TEST_CASE("Discoverer: events around bookmarks arrive, wherever the transport cuts them") {
    const std::string text = stream();
    for (std::size_t cut = 1; cut <= text.size() + 20; cut += step_of(7)) {
        CutWatch w;
        w.cut_after(cut);
        w.server.send_to_watches("pods", text);
        w.settle();
        if (!w.has_all() || !w.take_requests().empty()) FAIL("cut at " << cut);
    }
}

TEST_CASE("Discoverer: events around bookmarks arrive one handler at a time") {
    const std::string text = stream();
    // The server sends a part between any two handlers of the host.
    for (const std::size_t part : {1U, 7U, 64U, 200U}) {
        CutWatch w;
        for (std::size_t at = 0; at < text.size(); at += part) {
            w.server.send_to_watches("pods", text.substr(at, part));
            w.context.restart();
            for (std::size_t i = 0; i < at % 5; ++i) w.context.poll_one();
        }
        w.settle();
        CHECK(w.has_all());
        CHECK(w.take_requests().empty());
    }
}
