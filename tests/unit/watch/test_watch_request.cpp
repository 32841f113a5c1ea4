#include "k8s_sd/detail/watch/resource_version.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"

#include <catch2/catch_test_macros.hpp>
#include <set>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;

WatchQuery query() {
    WatchQuery query;
    query.kind = Kind::endpointslice;
    query.ns = "shop";
    return query;
}

TEST_CASE("watch request: the collection is that of the kind, with the selectors escaped") {
    CHECK(collection_target({}) == "/api/v1/pods");
    WatchQuery q = query();
    CHECK(collection_target(q) == "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices");
    q.label_selector = "app in (a,b)";
    CHECK(collection_target(q) == "/apis/discovery.k8s.io/v1/namespaces/shop/"
                                  "endpointslices?labelSelector=app+in+%28a%2Cb%29");
    q.field_selector = "metadata.name=x&limit=1";
    CHECK(collection_target(q).ends_with("%29&fieldSelector=metadata.name%3Dx%26limit%3D1"));
    q = {};
    q.share = ObjectShare({{1, 0}});
    CHECK(collection_target(q) == "/api/v1/pods?shardSelector=shardRange%28object.metadata.uid%2C+"
                                  "%270x0000000000000001%27%2C+%270x10000000000000000%27%29");
}

TEST_CASE("Watch request: an older version of an API has the same path but for the version") {
    const WatchQuery slices{Kind::endpointslice, "v1", "a=b", {}};
    const std::string path = "/apis/discovery.k8s.io/v1beta1/namespaces/v1/endpointslices";
    CHECK(collection_target(slices, "v1beta1") == path + "?labelSelector=a%3Db");
    CHECK(list_request(slices, {}, {}, "v1beta1").target.starts_with(path));
    CHECK(probe_request(slices, {}, "v1beta1").target.starts_with(path));
    CHECK(watch_request(slices, {"1"}, 0s, "v1beta1").target.starts_with(path));
    CHECK(collection_target({Kind::ingress, {}, {}, {}}, "v1beta1") ==
          "/apis/networking.k8s.io/v1beta1/ingresses");
}

TEST_CASE("watch request: a first page has a limit and no position") {
    const WatchRequest request = list_request({}, {.response_timeout = 5s}, {{}, {}, 500});
    CHECK(request.target == "/api/v1/pods?limit=500");
    CHECK_FALSE(request.has_position);
    CHECK(request.idle_timeout == 5s);
    CHECK(request.idle_error == errc::response_timeout);
    CHECK(list_request({}, {}, {}).target == "/api/v1/pods");
}

TEST_CASE("watch request: the next page has the server's token, escaped") {
    const WatchRequest request = list_request({}, {}, {{}, "a/b+c=&limit=1 ", 2});
    CHECK(request.target == "/api/v1/pods?limit=2&continue=a%2Fb%2Bc%3D%26limit%3D1+");
    CHECK(request.has_position);
}

TEST_CASE("watch request: a relist asks for a state that is not older") {
    const WatchRequest request = list_request({}, {}, {"17", {}, 0});
    CHECK(request.target == "/api/v1/pods?resourceVersion=17&resourceVersionMatch=NotOlderThan");
    CHECK(request.has_position);
}

TEST_CASE("watch request: a watch may be silent as long as it lasts, and a little longer") {
    const WatchRequest request = watch_request({}, {"17"}, 300s);
    CHECK(request.target == "/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=17"
                            "&timeoutSeconds=300");
    CHECK(request.has_position);
    CHECK(request.idle_timeout == 310s);
    CHECK(request.idle_error == errc::idle_timeout);
}

TEST_CASE("watch request: without a timeout the server decides, and any silence is allowed") {
    const WatchRequest request = watch_request({}, {"17"}, 0s);
    CHECK(request.target == "/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=17");
    CHECK(request.idle_timeout == 0s);
}

TEST_CASE("watch request: a list with other forms has less time, but more behind its head") {
    ListPlan::Request list{.hasty = true, .has_time = true};
    WatchRequest request = list_request({}, {}, list);
    CHECK(request.idle_timeout == 10s);
    CHECK(request.body_timeout == 25s);
    list.has_time = false;
    request = list_request({}, {}, list);
    CHECK(request.idle_timeout == 10s);
    CHECK(request.body_timeout == 0s);
    request = list_request({}, {}, ListPlan::Request{});
    CHECK(request.idle_timeout == WatchOptions().response_timeout);
    CHECK(request.body_timeout == 0s);
}

TEST_CASE("watch request: the timeout is drawn from all of the range, in whole seconds") {
    Random random(1);
    std::set<std::chrono::seconds> drawn;
    for (int i = 0; i < 200; ++i) {
        drawn.insert(
            draw_watch_timeout({.watch_timeout_min = 4500ms, .watch_timeout_max = 7900ms}, random));
    }
    CHECK(drawn == std::set<std::chrono::seconds>{4s, 5s, 6s, 7s});
    CHECK(draw_watch_timeout({.watch_timeout_min = 0s, .watch_timeout_max = 0s}, random) == 0s);
}

TEST_CASE("resource versions: numbers are compared by value, anything else is not compared") {
    CHECK(is_older_version("9", "10"));
    CHECK(is_older_version("99999999999999999999998", "99999999999999999999999"));
    CHECK_FALSE(is_older_version("10", "9"));
    CHECK_FALSE(is_older_version("9", "9"));
    for (const char* other : {"", "0", "09", "-9", "9a", " 9", "x"}) {
        CHECK_FALSE(is_older_version(other, "10"));
        CHECK_FALSE(is_older_version("1", other));
    }
}

TEST_CASE("watch request: a list with a watch asks for the objects first, and for their end") {
    const WatchOptions options{.response_timeout = 5s};
    const WatchRequest first = streamed_list_request(query(), options, {{}, {}, 0, true}, 400s);
    CHECK(first.target == "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices?watch=1"
                          "&allowWatchBookmarks=true&sendInitialEvents=true"
                          "&resourceVersionMatch=NotOlderThan&timeoutSeconds=400");
    CHECK_FALSE(first.has_position);
    CHECK(first.streamed);
    CHECK(first.idle_timeout == 5s);
    CHECK(first.idle_error == errc::response_timeout);
    const WatchRequest again = streamed_list_request({}, options, {"17", {}, 0, true}, 0s);
    CHECK(again.target == "/api/v1/pods?watch=1&allowWatchBookmarks=true&sendInitialEvents=true"
                          "&resourceVersionMatch=NotOlderThan&resourceVersion=17");
    CHECK(again.has_position);
}

}  // namespace
}  // namespace k8s_sd::detail
