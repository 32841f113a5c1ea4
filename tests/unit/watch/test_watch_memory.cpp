// The memory of a watch before its first request. There may be thousands of watches of single
// objects, so a member for all of them has to be worth its bytes. Every allocation is counted.

#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/watch/url_watcher_impl.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"
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
    const auto options = std::make_shared<const WatchOptions>();
    const auto maker = std::make_shared<ObjectMaker>();
    NoChanges observer;
    const auto make = [&](WatchQuery query) {
        return std::make_shared<URLWatcherImpl>(client, std::move(query), *options, observer,
                                                WatchMaking{.maker = maker, .options = options});
    };
    WatchQuery query;
    query.kind = Kind::secret;
    query.ns = "shop";
    query.field_selector = select_name("token");
    const auto first = make(query);  // pays for shared data, such as the schema
    test::memory_use = {.on = true};
    const auto watch = make(std::move(query));
    test::memory_use.on = false;
    CHECK(test::memory_use.allocations <= 2);
    CHECK(test::memory_use.requested <= 1800);
    first->stop();
    watch->stop();
}

}  // namespace k8s_sd::detail
