#include "access/guard.hpp"
#include "cli/command_line.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

std::string listens_at(const std::string& said, const k8s_sd::InClusterFiles& files) {
    std::ostringstream text;
    text << k8s_sd_program::listen_endpoint(said, files);
    return text.str();
}

}  // namespace

TEST_CASE("listen_endpoint: all addresses in a pod, localhost elsewhere, what is said everywhere") {
    std::string name = (std::filesystem::temp_directory_path() / "k8s-sd-pod-XXXXXX").string();
    const k8s_sd::InClusterFiles files{.directory = mkdtemp(name.data())};
    std::ofstream(files.directory + "/token") << "token";
    CHECK(listens_at("", files) == "127.0.0.1:8080");
    setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    const std::string everywhere = listens_at("", files);
    CHECK((everywhere == "[::]:8080" || everywhere == "0.0.0.0:8080"));
    CHECK(listens_at("127.0.0.1:9", files) == "127.0.0.1:9");
    std::filesystem::remove(files.directory + "/token");
    CHECK(listens_at("", files) == "127.0.0.1:8080");
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
    std::filesystem::remove_all(files.directory);
}

TEST_CASE("listen_endpoint: an address is one of IPv4, of IPv6 in brackets, or a name") {
    CHECK(listens_at("[::1]:8080", {}) == "[::1]:8080");
    CHECK(listens_at("localhost:0", {}) == "127.0.0.1:0");
    for (const char* text : {":8080", "8080", "localhost", "localhost:", "localhost:x",
                             "localhost:65536", "::1:8080", "[]:1", "127.0.0.1:-1"}) {
        INFO(text);
        CHECK_THROWS_AS(k8s_sd_program::listen_endpoint(text), cli::UsageError);
    }
}

TEST_CASE("RecurringNotes: each is said when it is new, and again a day later while it lasts") {
    constexpr std::int64_t day = k8s_sd_program::RecurringNotes::day;
    using Notes = std::vector<std::string>;
    k8s_sd_program::RecurringNotes notes;
    CHECK(notes.due({}, 0).empty());
    CHECK(notes.due({"a"}, 10) == Notes{"a"});
    CHECK(notes.due({"a"}, 12).empty());
    CHECK(notes.due({"a", "b"}, day) == Notes{"b"});
    CHECK(notes.due({"a", "b"}, day + 9).empty());
    CHECK(notes.due({"a", "b"}, day + 10) == Notes{"a"});
    CHECK(notes.due({"a", "b"}, 2 * day) == Notes{"b"});
    // A note that disappeared meanwhile counts as new.
    CHECK(notes.due({"b"}, 2 * day + 1).empty());
    CHECK(notes.due({"a", "b"}, 2 * day + 2) == Notes{"a"});
}

TEST_CASE("Guard: it ends, also when its timer has expired already") {
    boost::asio::io_context io;
    k8s_sd_program::Guard guard(
        io.get_executor(), {}, {}, true, [](const auto&) {}, std::chrono::milliseconds(0));
    guard.start();
    // The expired timer is queued after the handler that stops the guard.
    boost::asio::post(io, [&] { guard.stop(); });
    io.run_for(std::chrono::seconds(1));
    CHECK(io.stopped());
}
