#include "k8s_sd/detail/auth/secret_texts.hpp"
#include "k8s_sd/sim/manual_files.hpp"
#include "support/allocations.hpp"
#include "support/config_fixtures.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <new>
#include <string>

namespace k8s_sd::detail {

using namespace std::chrono_literals;

TEST_CASE("SecretTexts: without memory a read ends all the same, and the next one is complete") {
    const test::TemporaryDirectory directory;
    const std::string content(100, 'x');
    const std::string path = directory.write("token", content);
    for (long left = 0; left < 40; ++left) {
        INFO(left);
        boost::asio::io_context context;
        const auto clock = std::make_shared<test::ManualClock>();
        SecretTexts texts(context.get_executor(), clock, std::make_shared<sim::ManualFiles>(), {});
        texts.add("token", "old", path);
        int answers = 0;
        const auto read = [&] {
            texts.async_read([&answers] { ++answers; });
            test::settle(context);
        };
        test::allocations_left = left;
        try {
            read();
        } catch (const std::bad_alloc&) {
        }
        test::allocations_left = -1;
        clock->advance(11s);  // a file takes at most 10 s
        test::settle(context);
        CHECK(answers == 1);
        CHECK((texts[0] == "old" || texts[0] == content));
        CHECK((texts[0] == content || texts.expiry() == clock->now()));
        read();
        CHECK(answers == 2);
        CHECK(texts[0] == content);
        CHECK(texts.problem().empty());
    }
}

}  // namespace k8s_sd::detail
