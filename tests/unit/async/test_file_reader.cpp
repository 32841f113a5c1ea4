#include "k8s_sd/detail/async/file_reader.hpp"
#include "k8s_sd/detail/base/secrets.hpp"
#include "k8s_sd/sim/manual_files.hpp"
#include "support/config_fixtures.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using sim::ManualFiles;
using test::ManualClock;
using test::TemporaryDirectory;
using Texts = std::vector<std::string>;

const std::string too_slow = "reading it takes longer than 10 s";

/// Readers of one context, and their results.
struct Readers {
    std::unique_ptr<FileReader> make() {
        return std::make_unique<FileReader>(context->get_executor(), clock, calls);
    }
    void read(FileReader& reader, const std::string& file) {
        reader.async_read(file, [this](const FileContent& content) {
            received.push_back(content.problem.empty() ? std::string(view(content.bytes))
                                                       : "problem: " + content.problem);
        });
    }
    Texts take() {
        if (context) test::settle(*context);
        return std::exchange(received, {});
    }

    std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
    std::shared_ptr<ManualFiles> fake = std::make_shared<ManualFiles>();
    std::shared_ptr<FileCalls> calls = fake;
    TemporaryDirectory directory;
    std::string path = directory.write("token", "one");
    std::optional<asio::io_context> context{std::in_place};
    Texts received;
};

TEST_CASE("FileReader: gives the content or the reason why there is none, and never at once") {
    Readers r;
    const auto reader = r.make();
    r.read(*reader, r.path);
    CHECK(r.received.empty());
    CHECK(r.take() == Texts{"one"});
    r.read(*reader, r.directory.path("none"));
    CHECK(r.take() == Texts{"problem: No such file or directory"});
}

TEST_CASE("FileReader: a hanging file is reported after 10 s") {
    Readers r;
    const auto reader = r.make();
    r.fake->hold();
    r.read(*reader, r.path);
    r.clock->advance(9999ms);
    CHECK(r.take().empty());
    r.clock->advance(1ms);
    CHECK(r.take() == Texts{"problem: " + too_slow});
    r.fake->release();
    CHECK(r.take().empty());
}

TEST_CASE("FileReader: one file is read once at a time, whoever waits, and however long it hangs") {
    Readers r;
    const auto a = r.make(), b = r.make(), c = r.make(), other = r.make();
    r.fake->hold();
    r.read(*a, r.path);
    r.clock->advance(6s);
    r.read(*b, r.path);
    r.read(*other, r.directory.write("other", "two"));
    CHECK(r.fake->calls() == 2);
    r.clock->advance(4s);
    CHECK(r.take() == Texts(2, "problem: " + too_slow));  // ten seconds after the start of the read
    r.read(*c, r.path);
    CHECK(r.take() == Texts{"problem: " + too_slow});  // at once
    CHECK(r.fake->calls() == 2);

    r.directory.write("token", "new");
    r.fake->release();
    CHECK(r.take() == Texts{"two"});
    r.directory.write("token", "newer");
    r.read(*a, r.path);
    CHECK(r.take() == Texts{"newer"});
    CHECK(r.fake->calls() == 3);
}

TEST_CASE("FileReader: all waiting handlers are called, except cancelled and destroyed ones") {
    Readers r;
    auto a = r.make(), b = r.make(), c = r.make();
    r.fake->hold();
    for (const auto* reader : {&a, &b, &c}) r.read(**reader, r.path);
    CHECK(r.fake->calls() == 1);
    a->cancel();
    b.reset();
    SECTION("before the answer") {
        r.fake->release();
        CHECK(r.take() == Texts{"one"});
    }
    SECTION("after the answer, which is on its way") {
        r.fake->release();
        c->cancel();
        CHECK(r.take().empty());
    }
}

TEST_CASE("FileReader: an answer counts although the executor was busy for longer than 10 s") {
    Readers r;
    const auto reader = r.make();
    r.fake->hold();
    r.read(*reader, r.path);
    r.clock->advance(20s);
    r.fake->release();
    CHECK(r.take() == Texts{"one"});
}

TEST_CASE("FileReader: a wait is work of the context until it is cancelled or completes") {
    Readers r;
    auto reader = r.make();
    r.fake->hold();
    r.read(*reader, r.path);
    CHECK(r.context->run_for(20ms) == 0);
    CHECK_FALSE(r.context->stopped());
    SECTION("cancelled") { reader->cancel(); }
    SECTION("gone") { reader.reset(); }
    SECTION("completed") { r.clock->advance(10s); }
    r.context->restart();
    r.context->run();
    CHECK(r.fake->held() == 1);
}

TEST_CASE("FileReader: a file that hangs does not hold up the end of the context") {
    Readers r;
    const auto alive = std::make_shared<int>();
    {
        const auto reader = r.make();
        reader->async_read(r.path, [&r, alive](const FileContent&) { r.received.emplace_back(); });
        r.take();
        r.fake->hold();
        reader->async_read(r.path, [&r, alive](const FileContent&) { r.received.emplace_back(); });
        CHECK(alive.use_count() == 2);
        r.context.reset();
        CHECK(alive.use_count() == 1);
    }
    r.fake->release();
    CHECK(r.take().empty());
}

TEST_CASE("FileReader: calls that are refused, or throw, are a reason") {
    struct Full final : FileCalls {
        bool run(std::function<void()>) override { return false; }
    };
    struct Throwing final : FileCalls {
        bool run(std::function<void()>) override { throw std::runtime_error("no pool here"); }
    };
    Readers r;
    r.calls = std::make_shared<Full>();
    r.read(*r.make(), r.path);
    CHECK(r.take().empty());  // the reader is destroyed
    const auto refused = r.make();
    r.read(*refused, r.path);
    CHECK(r.take() == Texts{"problem: too many files are being read"});
    r.calls = std::make_shared<Throwing>();
    const auto thrown = r.make();
    r.read(*thrown, r.path);
    CHECK(r.take() == Texts{"problem: no pool here"});
}

}  // namespace
}  // namespace k8s_sd::detail
