// The memory of a watch before its first request. There may be thousands of watches of single
// objects, so a member for all of them has to be worth its bytes. Every allocation is counted.

#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/watch/url_watcher_impl.hpp"
#include "support/allocations.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <utility>

namespace k8s_sd::detail {
namespace {

struct NoChanges final : WatchObserver {
    void on_change(const ObjectChange&) override {}
    void on_synced() override {}
    void on_batch_end() override {}
    void on_status() override {}
};

}  // namespace

TEST_CASE("URLWatcher: a watch of one object takes two allocations before its first request") {
    asio::io_context context;
    const auto client = std::make_shared<ApiClient>(
        context.get_executor(), ApiServerConfig{.url = "https://a:6443"}, Environment{});
    WatchQuery query;
    query.kind = Kind::secret;
    query.ns = "shop";
    const auto setup = std::make_shared<const WatchSetup>(
        std::move(query), std::make_shared<const WatchOptions>(), std::make_shared<ObjectMaker>());
    const SharedText token("token");
    NoChanges observer;
    const auto make = [&] {
        return std::make_shared<URLWatcherImpl>(client, WatchSubject(setup, token), observer);
    };
    const auto first = make();  // pays for shared data, such as the schema
    test::memory_use = {.on = true};
    const auto watch = make();
    test::memory_use.on = false;
    CHECK(test::memory_use.allocations <= 2);
    CHECK(test::memory_use.requested <= 1400);
    first->stop();
    watch->stop();
}

}  // namespace k8s_sd::detail
