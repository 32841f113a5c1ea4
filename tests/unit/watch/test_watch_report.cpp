#include "k8s_sd/detail/watch/watch_report.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
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

/// A report of a watch of some nodes, and what it logs.
struct Reported {
    Texts take_log() { return std::exchange(lines, {}); }
    const WatchStatus& status() const { return report.status(); }

    Texts lines;
    WatchQuery query = nodes();
    std::string server = "https://a:6443";
    Metrics::PerKind metrics;
    Logger logger{LogLevel::debug, [this](LogLevel level, std::string_view line) {
                      lines.push_back(std::string(to_string(level)) + " " + std::string(line));
                  }};
    TimePoint now{1h};
    WatchReport report{query, server, metrics, logger, now};
};

const std::string url = "https://a:6443/api/v1/nodes?labelSelector=zone%3Da: ";

ObjectPtr some_object() {
    struct Some final : Object {
        Some() : Object(Kind::node, "u") { set_key("", "n"); }
        bool same_content(const Object&) const noexcept override { return false; }
    };
    return new Some;
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

TEST_CASE("WatchReport: a failure is told with the URL; the same one again only in the status") {
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

TEST_CASE("WatchReport: a recovery is told once") {
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
    CHECK(r.report.on_list(r.now));
    CHECK_FALSE(r.status().error);
    CHECK(r.metrics.lists == 2);
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
    r.report.on_bad_object("ns", "a\nb", {errc::bad_object, "an\x01object"});
    r.report.on_bad_object("ns", "c", {errc::bad_object, "another"});
    CHECK(r.metrics.bad_objects == 2);
    const Texts log = r.take_log();
    REQUIRE(log.size() == 1);
    CHECK(log[0].starts_with("warning " + url + "skipped the object ns/a b: "));
    CHECK(log[0].ends_with(": an object"));
    r.report.begin_list();
    r.report.on_bad_object("ns", "c", {errc::bad_object, "another"});
    CHECK(r.take_log().size() == 1);
}

TEST_CASE("WatchReport: a list that is older than what was seen is told") {
    Reported r;
    r.report.on_page("17", "16");
    r.report.on_page("17", "");
    CHECK(r.take_log().empty());
    r.report.on_page("16", "17");
    const Texts log = r.take_log();
    REQUIRE(log.size() == 1);
    CHECK(log[0].find("(16 after 17)") != std::string::npos);
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
    r.report.on_bytes(17);
    r.report.on_event();
    r.report.on_bookmark();
    CHECK(r.metrics.watches == 1);
    CHECK(r.metrics.bytes_received == 17);
    CHECK(r.metrics.events == 1);
    CHECK(r.metrics.bookmarks == 1);
}

}  // namespace
}  // namespace k8s_sd::detail
