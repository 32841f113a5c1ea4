// The traces of a Secret in the library's memory. The tests search all memory that the library
// frees, and all that it still holds at the end.

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/text/base64.hpp"
#include "k8s_sd/objects/data_object.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "k8s_sd/url_watcher.hpp"
#include "support/allocations.hpp"
#include "support/data_objects.hpp"
#include "support/manual_clock.hpp"
#include "support/plain_lists.hpp"
#include "support/protobuf_documents.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// Answers each request with the next text, from memory outside of the heap.
class Replies final : public Connector {
 public:
    Replies(std::array<std::string_view, 2> texts, std::size_t chunk)
        : texts_(texts), chunk_(chunk) {}
    std::unique_ptr<ByteStream> make_stream(asio::any_io_executor executor,
                                            const ConnectTarget&) override {
        return std::make_unique<Stream>(*this, std::move(executor));
    }

 private:
    class Stream final : public ByteStream {
     public:
        Stream(Replies& replies, asio::any_io_executor executor)
            : replies_(replies), executor_(std::move(executor)) {}
        void async_connect(ConnectHandler handler) override {
            asio::post(executor_, [handler] { handler({}, {}); });
        }
        void async_write(asio::const_buffer buffer, IoHandler handler) override {
            rest_ =
                replies_.next_ < replies_.texts_.size() ? replies_.texts_[replies_.next_++] : "";
            asio::post(executor_, [handler, size = buffer.size()] { handler({}, size); });
        }
        void async_read_some(asio::mutable_buffer buffer, IoHandler handler) override {
            if (rest_.empty()) return;  // never completes
            const std::size_t size = std::min({buffer.size(), rest_.size(), replies_.chunk_});
            std::memcpy(buffer.data(), rest_.data(), size);
            rest_.remove_prefix(size);
            asio::post(executor_, [handler, size] { handler({}, size); });
        }
        void close() noexcept override { rest_ = {}; }

     private:
        Replies& replies_;
        asio::any_io_executor executor_;
        std::string_view rest_;
    };

    std::array<std::string_view, 2> texts_;
    std::size_t chunk_;
    std::size_t next_ = 0;
};

struct IgnoringObserver final : WatchObserver {
    void on_change(const ObjectChange& change) override { known = change.after; }
    void on_synced() override {}
    void on_batch_end() override {}
    void on_status() override {}
    ObjectPtr known;
};

std::string response(const std::string& body, bool ends,
                     const std::string& type = "application/json") {
    std::string text = "HTTP/1.1 200 OK\r\nContent-Type: " + type + "\r\n";
    if (ends) return text + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", body.size());
    return text + "Transfer-Encoding: chunked\r\n\r\n" + size + body + "\r\n";
}

/// A watch of Secrets with all its allocations and deallocations searched.
struct SearchedWatch {
    SearchedWatch(std::array<std::string_view, 2> replies, std::size_t chunk) {
        Environment environment;
        environment.clock = std::make_shared<ManualClock>();
        environment.connector = std::make_shared<Replies>(replies, chunk);
        environment.logger.level = LogLevel::off;
        ApiServerConfig server;
        server.url = "http://sim.invalid";
        WatchQuery query;
        query.kind = Kind::secret;
        query.ns = "shop";
        memory_search.on = true;
        memory_search.in_freed = false;
        memory_search.live.fill(nullptr);
        client = std::make_shared<ApiClient>(context.get_executor(), server, environment);
        watcher.emplace(client, query, plain_lists(), static_cast<WatchObserver&>(observer));
        watcher->start();
        settle(context);
    }
    void forget_object() {
        observer.known = nullptr;
        watcher->forget("shop", "db");
    }
    void end() {
        watcher.reset();
        settle(context);
        memory_search.on = false;
    }

    asio::io_context context;
    IgnoringObserver observer;
    std::shared_ptr<ApiClient> client;
    std::optional<URLWatcher> watcher;
};

/// A Watcher of Secrets, searched as above.
struct SearchedWatcher {
    SearchedWatcher(std::array<std::string_view, 2> replies, std::size_t chunk) {
        Environment environment;
        environment.clock = std::make_shared<ManualClock>();
        environment.connector = std::make_shared<Replies>(replies, chunk);
        environment.logger.level = LogLevel::off;
        WatcherConfig config;
        config.api_server.url = "http://sim.invalid";
        config.namespaces = {"shop"};
        config.watch = plain_lists();
        memory_search.on = true;
        memory_search.in_freed = false;
        memory_search.live.fill(nullptr);
        install(context, environment);
        watcher.emplace(context.get_executor(), config,
                        [this](const ObjectDiff<api::Secret>& diff) { receive(diff); });
        watcher->async_run([](error_code) {});
        settle(context);
    }
    void receive(const ObjectDiff<api::Secret>& diff) {
        for (const auto& secret : diff.added) known = secret;
        for (const auto& change : diff.changed) known = change.after;
    }
    void forget_object() {
        watcher.reset();
        settle(context);
        known = nullptr;
    }
    void end() { memory_search.on = false; }

    asio::io_context context;
    std::shared_ptr<const api::Secret> known;
    std::optional<Watcher<api::Secret>> watcher;
};

std::size_t keys_of(const ObjectPtr& object) { return object ? as_data_object(object)->size() : 0; }
std::size_t keys_of(const std::shared_ptr<const api::Secret>& secret) {
    return secret ? secret->data.size() : 0;
}
const ObjectPtr& known_to(const SearchedWatch& searched) { return searched.observer.known; }
const std::shared_ptr<const api::Secret>& known_to(const SearchedWatcher& searched) {
    return searched.known;
}

/// Processes a list with one Secret, and an event that changes it.
template <class Searched>
void check_nothing_stays(const std::string& list, const std::string& watch) {
    for (const std::size_t chunk : {1U, 7U, 1000U, 1'000'000U}) {
        CAPTURE(chunk);
        Searched searched({list, watch}, chunk);
        const bool complete = keys_of(known_to(searched)) == 2;
        const long with_object = memory_search.in_live();
        const bool freed_before = memory_search.in_freed;
        searched.forget_object();
        const long without_object = memory_search.in_live();
        searched.end();
        CHECK(complete);
        CHECK(with_object == 1);
        CHECK_FALSE(freed_before);
        CHECK(without_object == 0);
        CHECK_FALSE(memory_search.in_freed);
    }
}

}  // namespace

TEST_CASE("Secrets leave nothing behind in memory, but in the object itself") {
    const std::string token =
        "such-a-secret-token-that-is-found-nowhere-else-" + std::string(3000, 'x');
    const std::string encoded = detail::encode_base64(token);
    const std::string metadata =
        R"("metadata":{"name":"db","namespace":"shop","uid":"u","resourceVersion":"7","annotations":)"
        R"({"kubectl.kubernetes.io/last-applied-configuration":"{\"token\":\")" +
        encoded + R"(\"}"}})";
    const std::string object =
        "{" + metadata + R"(,"type":"Opaque","data":{"token":")" + encoded + R"("}})";
    const std::string list = response(
        R"({"kind":"SecretList","metadata":{"resourceVersion":"9"},"items":[)" + object + "]}",
        true);
    const std::string changed =
        "{" + metadata + R"(,"data":{"token":")" + encoded + R"(","more":""}})";
    const std::string watch = response(R"({"type":"MODIFIED","object":)" + changed + "}\n", false);

    // A part suffices, because all traces of the secret consist of such parts.
    memory_search.wanted = {std::string_view(token).substr(0, 24),
                            std::string_view(encoded).substr(0, 32)};
    check_nothing_stays<SearchedWatch>(list, watch);
    check_nothing_stays<SearchedWatcher>(list, watch);
}

TEST_CASE("Secrets in protobuf leave nothing behind in memory, but in the object itself") {
    using namespace protobuf_documents;
    const std::string token =
        "such-a-secret-token-that-is-found-nowhere-else-" + std::string(3000, 'x');
    const Message meta = protobuf_documents::metadata("db", "shop").pair(12, "last-applied", token);
    // Invalid UTF-8 is repaired, in a copy.
    const Message secret = object(meta).pair(2, "token", token).text(3, token + "\xFF");
    const Message changed = object(meta).pair(2, "token", token).pair(2, "more", "");
    const std::string type = "application/vnd.kubernetes.protobuf";
    memory_search.wanted = {std::string_view(token).substr(0, 24),
                            std::string_view(token).substr(0, 24)};
    const std::string listed = response(document("SecretList", list({secret})), true, type);
    const std::string watched =
        response(event("MODIFIED", document("Secret", changed)), false, type);
    check_nothing_stays<SearchedWatch>(listed, watched);
    check_nothing_stays<SearchedWatcher>(listed, watched);
}

TEST_CASE("Secrets leave nothing behind of a response that cannot be used") {
    const std::string token =
        "such-a-secret-token-that-is-found-nowhere-else-" + std::string(3000, 'x');
    const std::string encoded = detail::encode_base64(token);
    const std::string body =
        R"({"kind":"SecretList","metadata":{"resourceVersion":"9"},"items":[{"metadata":)"
        R"({"name":"db","namespace":"shop","uid":"u","resourceVersion":"7"},"data":{"token":")" +
        encoded + R"("}},{"metadata":{"name":"e","namespace":"shop"},"data":{"token":")" + encoded;
    const std::string malformed = response(body + "\x01", true);
    // A JSON body is read under any content type, so this one must not begin like JSON.
    std::string other_type = response("<p>" + body + R"("}}]})", true);
    const std::string json = "application/json";
    other_type.replace(other_type.find(json), json.size(), "text/plain");
    memory_search.wanted = {std::string_view(token).substr(0, 24),
                            std::string_view(encoded).substr(0, 32)};
    for (const std::string& answer : {malformed, other_type}) {
        CAPTURE(answer.substr(0, 120));
        SearchedWatch searched({answer, answer}, 1000);
        const bool failed = static_cast<bool>(searched.watcher->status().error);
        searched.forget_object();
        const long while_it_waits = memory_search.in_live();
        searched.end();
        CHECK(failed);
        CHECK(while_it_waits == 0);
        CHECK_FALSE(memory_search.in_freed);
    }
}
