#include "k8s_sd/detail/watch/watch_report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

WatchQuery nodes() {
    WatchQuery query;
    query.kind = Kind::node;
    query.label_selector = "zone=a";
    return query;
}

/// A report of a watch of some nodes, and its log.
struct Reported {
    Texts take_log() { return std::exchange(lines, {}); }
    /// Without the error of unread objects.
    WatchStatus status() const {
        WatchStatus status = report.whole_status();
        status.error = report.error();
        if (!report.error()) status.message.clear();
        status.since = report.status().since;
        return status;
    }

    Texts lines;
    WatchQuery query = nodes();
    std::string server = "https://a:6443";
    Metrics all_metrics;
    Metrics::PerKind& metrics = all_metrics.of(query.kind);
    Logger logger{LogLevel::debug, [this](LogLevel level, std::string_view line) {
                      lines.push_back(std::string(to_string(level)) + " " + std::string(line));
                  }};
    TimePoint now{1h};
    ReportContext context{server, all_metrics, logger, [](std::string text) {
                              const auto at = text.find("s3cret");
                              return at == std::string::npos ? text : text.replace(at, 6, "<...>");
                          }};
    WatchSubject subject{std::make_shared<const WatchSetup>(
        query, std::make_shared<const WatchOptions>(), std::make_shared<ObjectMaker>())};
    WatchReport report{subject, context, now};
};

const std::string url = "https://a:6443/api/v1/nodes?labelSelector=zone%3Da: ";

BadObject bad(std::string_view name, errc ec, std::string_view problem = {}) {
    return {"ns", name, "u", "7", ec, problem};
}

ObjectPtr some_object() {
    struct Some final : Object {
        Some() : Object(Kind::node, "u") { set_key("", "n"); }
        bool same_content(const Object&) const noexcept override { return false; }
    };
    return new Some;
}

TEST_CASE("WatchReport: a server that has just started is waited for, for a minute") {
    Reported r;
    CHECK(r.report.on_starting(r.now));
    CHECK(r.report.on_starting(r.now + 59s));
    CHECK(
        r.take_log() ==
        Texts{"info " + url + "the server has just started and fills its caches; waiting for it"});
    CHECK_FALSE(r.status().error);
    CHECK(r.metrics.too_many_requests == 0);
    CHECK_FALSE(r.report.on_starting(r.now + 1min));
    SECTION("after a watch: anew") { r.report.on_watch(); }
    SECTION("after a list: anew") { r.report.on_list(r.now); }
    CHECK(r.report.on_starting(r.now + 2min));
}

TEST_CASE("WatchReport: it begins without an error, and is counted until its end") {
    Reported r;
    CHECK(r.status().kind == Kind::node);
    CHECK_FALSE(r.status().error);
    CHECK_FALSE(r.status().synced);
    CHECK(r.status().since == r.now);
    CHECK(r.metrics.watchers == 1);
    r.report.end();
    CHECK(r.metrics.watchers == 0);
}

TEST_CASE(
    "WatchReport: a failure is reported with the URL; the same one again only in the status") {
    Reported r;
    r.report.fail({errc::forbidden, "HTTP 403: no"}, false, r.now + 1s);
    CHECK(r.status().error == errc::forbidden);
    CHECK(r.status().message == url + "HTTP 403: no");
    CHECK(r.status().since == r.now + 1s);
    CHECK(r.take_log() == Texts{"warning " + url + "HTTP 403: no"});
    r.report.fail({errc::forbidden, "HTTP 403: still no"}, false, r.now + 2s);
    CHECK(r.status().message == url + "HTTP 403: still no");
    CHECK(r.status().since == r.now + 1s);
    CHECK(r.take_log().empty());
    r.report.fail({errc::not_found, "HTTP 404"}, false, r.now + 3s);
    CHECK(r.status().since == r.now + 3s);
    CHECK(r.status().failures == 3);
    CHECK(r.take_log() == Texts{"warning " + url + "HTTP 404"});
    CHECK(r.metrics.forbidden == 2);
    CHECK(r.metrics.not_found == 1);
}

TEST_CASE("WatchReport: errors that take turns are logged once each until the watch works") {
    Reported r;
    const Failure silent{errc::idle_timeout, "the watch was silent"};
    const Failure slow{errc::response_timeout, "no answer"};
    for (int i = 0; i < 10; ++i) {
        r.report.fail(silent, true, r.now);
        CHECK(r.status().error == errc::idle_timeout);
        r.report.fail(slow, true, r.now);
        CHECK(r.status().error == errc::response_timeout);
    }
    CHECK(r.take_log().size() == 2);
    CHECK(r.report.recover(r.now));
    r.report.fail(silent, true, r.now);
    CHECK(r.take_log().size() == 2);  // one recovery, one failure
}

TEST_CASE("WatchReport: a recovery is reported once") {
    Reported r;
    CHECK_FALSE(r.report.recover(r.now));
    r.report.fail({errc::server_error, "HTTP 500"}, true, r.now);
    r.take_log();
    CHECK(r.report.recover(r.now + 5s));
    CHECK_FALSE(r.report.recover(r.now + 6s));
    CHECK_FALSE(r.status().error);
    CHECK(r.status().message.empty());
    CHECK(r.status().failures == 0);
    CHECK(r.status().since == r.now + 5s);
    CHECK(r.take_log() == Texts{"warning " + url + "works again"});
}

TEST_CASE("WatchReport: a complete list ends the error of a list, not that of a watch") {
    Reported r;
    r.report.fail({errc::server_error, "HTTP 500"}, true, r.now);
    CHECK_FALSE(r.report.on_list(r.now));
    CHECK(r.status().error == errc::server_error);
    r.report.fail({errc::server_error, "HTTP 500"}, false, r.now);
    CHECK_FALSE(r.report.on_list(r.now));  // the watch has not worked since
    r.report.recover(r.now);
    r.report.fail({errc::server_error, "HTTP 500"}, false, r.now);
    CHECK(r.report.on_list(r.now));
    CHECK_FALSE(r.status().error);
    CHECK(r.metrics.lists == 3);
}

TEST_CASE("WatchReport: what happens every now and then is counted and changes no status") {
    Reported r;
    r.report.note({errc::expired, "the version has expired"});
    r.report.note({errc::idle_timeout, ""});
    CHECK(r.metrics.expired == 1);
    CHECK(r.metrics.network_errors == 1);
    CHECK_FALSE(r.status().error);
    CHECK(r.take_log() == Texts{"debug " + url + "the version has expired"});
}

TEST_CASE("WatchReport: it is synced once") {
    Reported r;
    CHECK(r.report.on_synced());
    CHECK_FALSE(r.report.on_synced());
    CHECK(r.status().synced);
    CHECK(r.metrics.synced_watchers == 1);
    CHECK(r.take_log() == Texts{"info " + url + "listed 0 objects"});
    r.report.end();
    CHECK(r.metrics.synced_watchers == 0);
}

TEST_CASE("WatchReport: one line for the first bad object of a list, in printable text") {
    Reported r;
    r.report.on_bad_object(bad("a\nb", errc::bad_object, "an\x01object"), false);
    r.report.on_bad_object(bad("c", errc::bad_object, "another"), false);
    CHECK(r.metrics.bad_objects == 2);
    const Texts log = r.take_log();
    REQUIRE(log.size() == 1);
    CHECK(log[0].starts_with("warning " + url + "skipped the object ns/a b: "));
    CHECK(log[0].ends_with(": an object"));
    r.report.begin_list(ListReason::expired, r.now);
    r.report.on_bad_object(bad("c", errc::bad_object, "another"), false);
    CHECK(r.take_log().size() == 1);
    CHECK_FALSE(r.report.whole_status().error);
}

TEST_CASE("WatchReport: objects that cannot be read are an error until they can be, or are gone") {
    Reported r;
    const auto read_change = [&] { return r.report.take_unread_change(); };
    r.report.on_bad_object(bad("b", errc::object_too_large), true);
    CHECK(read_change());
    CHECK_FALSE(read_change());
    CHECK(r.report.whole_status().error == errc::object_too_large);
    CHECK(r.report.whole_status().message ==
          url + "an object is larger than max_object_bytes, or its labels than 64 MiB: ns/b; the "
                "last known state stays until "
                "the object is deleted");
    CHECK_FALSE(r.status().error);  // of requests
    r.report.on_bad_object(bad("a", errc::object_too_large), true);
    CHECK(r.report.whole_status().message.find("ns/a and 1 more") != std::string::npos);
    r.report.fail({errc::server_error, "no"}, false, r.now);
    CHECK(r.report.whole_status().error == errc::server_error);
    r.report.recover(r.now);
    r.report.on_read("ns", "a");
    r.report.on_read("ns", "other");
    CHECK(r.report.whole_status().error == errc::object_too_large);
    SECTION("they are read or deleted") { r.report.on_read("ns", "b"); }
    SECTION("a list is complete without them") {
        r.report.begin_list(ListReason::expired, r.now);
        CHECK(r.report.whole_status().error);
        r.report.on_list(r.now);
    }
    CHECK_FALSE(r.report.whole_status().error);
    r.report.begin_list(ListReason::expired, r.now);
    r.report.on_bad_object(bad("", errc::bad_object), true);
    r.report.on_list(r.now);
    CHECK(r.report.whole_status().error == errc::bad_object);
    CHECK(r.report.whole_status().message.find(": one without a name;") != std::string::npos);
}

TEST_CASE("WatchReport: a version that went back is reported, and counted") {
    Reported r;
    r.report.on_version_regression("16", "17");
    CHECK(r.metrics.version_regressions == 1);
    const Texts log = r.take_log();
    REQUIRE(log.size() == 1);
    CHECK(log[0].find("went back from 17 to 16") != std::string::npos);
}

TEST_CASE("WatchReport: a suspicious list is reported, and counted") {
    Reported r;
    r.report.on_suspicious_list(6, 10);
    CHECK(r.metrics.suspicious_lists == 1);
    const Texts log = r.take_log();
    REQUIRE(log.size() == 1);
    CHECK(log[0].find("lacks 6 of 10 objects") != std::string::npos);
}

TEST_CASE("WatchReport: polling is reported once, until a watch works again") {
    Reported r;
    r.report.begin_poll(60s);
    r.report.begin_poll(60s);
    const Texts log = r.take_log();
    REQUIRE(log.size() == 1);
    CHECK(log[0].find("lists it every 60 s") != std::string::npos);
    r.report.recover(r.now);
    r.report.begin_poll(60s);
    CHECK(r.take_log().size() == 1);
}

TEST_CASE("WatchReport: lists are counted by their reason, with the time they took") {
    Reported r;
    r.report.begin_list(ListReason::first, r.now);
    r.report.on_list(r.now + 3s);
    r.report.on_synced();
    CHECK(r.status().list_duration == 3s);
    CHECK(r.status().last_list == r.now + 3s);
    CHECK(r.metrics.relists == 0);
    r.report.begin_list(ListReason::polling, r.now + 1min);
    r.report.on_list(r.now + 1min + 500ms);
    CHECK(r.status().lists[static_cast<std::size_t>(ListReason::first)] == 1);
    CHECK(r.status().lists[static_cast<std::size_t>(ListReason::polling)] == 1);
    CHECK(r.metrics.lists == 2);
    CHECK(r.metrics.relists == 1);
    CHECK(r.metrics.polls == 1);
    CHECK(r.metrics.list_milliseconds == 3500);
}

TEST_CASE("WatchReport: what it waits for is in the status, since when, and for how long") {
    Reported r;
    CHECK(r.status().waiting == Waiting::nothing);
    r.report.wait(Waiting::backoff, r.now + 1s, 30s);
    CHECK(r.status().waiting == Waiting::backoff);
    CHECK(r.status().waiting_since == r.now + 1s);
    CHECK(r.status().pause == 30s);
    r.report.wait(Waiting::events, r.now + 2s);
    CHECK_FALSE(r.status().pause);
}

TEST_CASE("WatchReport: no text holds what the client takes out of it") {
    Reported r;
    r.report.fail({errc::server_error, "you sent s3cret"}, false, r.now);
    r.report.on_bad_object(bad("s3cret", errc::bad_object), false);
    CHECK(r.status().message == url + "you sent <...>");
    for (const std::string& line : r.take_log()) CHECK(line.find("s3cret") == std::string::npos);
}

TEST_CASE("WatchReport: watchers whose last attempt failed are counted until their end") {
    Reported r;
    r.report.fail({errc::server_error, "no"}, false, r.now);
    r.report.fail({errc::not_found, "no"}, false, r.now);
    CHECK(r.metrics.failing_watchers == 1);
    r.report.recover(r.now);
    CHECK(r.metrics.failing_watchers == 0);
    r.report.fail({errc::server_error, "no"}, false, r.now);
    r.report.end();
    CHECK(r.metrics.failing_watchers == 0);
}

TEST_CASE("WatchReport: objects are counted as they come and go, until the end") {
    Reported r;
    const ObjectPtr object = some_object();
    r.report.on_change({nullptr, object});
    r.report.on_change({nullptr, object});
    r.report.on_change({nullptr, object});
    r.report.on_change({object, object});
    r.report.on_change({object, nullptr});
    r.report.on_forgotten();
    CHECK(r.metrics.added == 3);
    CHECK(r.metrics.updated == 1);
    CHECK(r.metrics.removed == 1);
    CHECK(r.status().objects == 1);
    CHECK(r.metrics.objects == 1);
    r.report.end();
    CHECK(r.metrics.objects == 0);
}

TEST_CASE("WatchReport: what comes is counted") {
    Reported r;
    r.report.on_watch();
    r.report.on_probe();
    r.report.on_silence();
    r.report.on_bytes(17, r.now + 1s);
    r.report.on_event(r.now + 2s);
    r.report.on_bookmark(r.now + 3s);
    CHECK(r.status().last_byte == r.now + 1s);
    CHECK(r.status().last_event == r.now + 2s);
    CHECK(r.status().last_bookmark == r.now + 3s);
    CHECK(r.metrics.probes == 1);
    CHECK(r.metrics.silent_watches == 1);
    CHECK(r.metrics.watches == 1);
    CHECK(r.metrics.bytes_received == 17);
    CHECK(r.metrics.events == 1);
    CHECK(r.metrics.bookmarks == 1);
}

}  // namespace
}  // namespace k8s_sd::detail
