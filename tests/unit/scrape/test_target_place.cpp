// The URL that vmagent scrapes for a target, and the verdict of Go's url.Parse.

#include "k8s_sd/detail/scrape/target_url.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/scrape/target_builder.hpp"
#include "support/groups.hpp"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using k8s_sd::detail::go_url_problem;
using k8s_sd::test::make_group;

namespace {

using Params = std::map<std::string, std::vector<std::string>>;

/// A job of vmagent, whose target has these labels.
struct Case {
    LabelMap labels;
    Params params{};
    std::vector<RelabelRule> rules{};

    BuiltTarget build() const {
        ScrapeConfig config{.job_name = "j", .params = params, .relabel_configs = rules};
        config.dialect = LabelDialect::victoriametrics;
        return TargetBuilder(config).build(make_group("p", {labels}), 0);
    }
    /// "URL instance", or the error.
    std::string text() const {
        const BuiltTarget result = build();
        if (const auto* error = std::get_if<TargetError>(&result)) return error->message;
        const auto& target = std::get<ScrapeTargetPtr>(result);
        return target->url() + " " + std::string(target->get("instance"));
    }
};

std::string place(const LabelMap& labels) { return Case{labels}.text(); }

/// A rule that clears a label.
RelabelRule without(const char* label) { return {.target_label = label, .replacement = ""}; }

std::string address_place(const char* address, const char* scheme = "http") {
    return place({{"__address__", address}, {"__scheme__", scheme}});
}

}  // namespace

TEST_CASE("vmagent's place: the default port is in the instance alone") {
    CHECK(address_place("foo") == "http://foo/metrics foo:80");
    CHECK(address_place("foo:1234") == "http://foo:1234/metrics foo:1234");
    CHECK(address_place("foo", "https") == "https://foo/metrics foo:443");
    CHECK(address_place("foo:1234", "https") == "https://foo:1234/metrics foo:1234");
    CHECK(address_place("foo:443", "http") == "http://foo:443/metrics foo:443");
    // For vmagent, an address with a colon has a port.
    CHECK(address_place("[fd00::5]") == "http://[fd00::5]/metrics [fd00::5]");
    CHECK(address_place("fd00::5") == "http://fd00::5/metrics fd00::5");
    CHECK(address_place("2001:db8::1:8080") == "http://2001:db8::1:8080/metrics 2001:db8::1:8080");
    CHECK(address_place("u:p@h:80") == "http://u:p@h:80/metrics u:p@h:80");
    CHECK(address_place("h:80:90") == "http://h:80:90/metrics h:80:90");
}

TEST_CASE("vmagent's place: scheme and path fall back where rules have emptied them") {
    CHECK(Case{{{"__address__", "h:1"}}, {}, {without("__scheme__")}}.text() ==
          "http://h:1/metrics h:1");
    CHECK(Case{{{"__address__", "h:1"}}, {}, {without("__metrics_path__")}}.text() ==
          "http://h:1/metrics h:1");
    CHECK(place({{"__address__", "h:1"}, {"__metrics_path__", "abc"}}) == "http://h:1/abc h:1");
    CHECK(place({{"__address__", "h:1"}, {"__metrics_path__", ""}, {"__scheme__", ""}}) ==
          "http://h:1/metrics h:1");
    CHECK(address_place("h:1", "ftp") == "ftp://h:1/metrics h:1");
}

TEST_CASE("Place: the scheme of a job may be written in any case; vmagent changes it") {
    ScrapeConfig config{.job_name = "j", .scheme = "HTTPS"};
    const auto of_prometheus = TargetBuilder(config).explain({{"__address__", "h:1"}});
    CHECK(of_prometheus.url == "HTTPS://h:1/metrics");
    CHECK(of_prometheus.labels->at("instance") == "h:1");
    config.dialect = LabelDialect::victoriametrics;
    TargetBuilder builder(config);
    CHECK(builder.config() == config);  // unchanged
    CHECK(builder.explain({{"__address__", "h"}}).url == "https://h/metrics");
    CHECK(builder.explain({{"__address__", "h"}}).labels->at("instance") == "h:443");
}

TEST_CASE("vmagent's place: times fall back to the job's where rules have emptied them") {
    const BuiltTarget result = Case{{{"__address__", "h:1"}},
                                    {},
                                    {without("__scrape_interval__"), without("__scrape_timeout__")}}
                                   .build();
    const auto& target = std::get<ScrapeTargetPtr>(result);
    CHECK(target->scrape_interval() == std::chrono::minutes(1));
    CHECK(target->scrape_timeout() == std::chrono::seconds(10));
    for (const char* never : {"0s", "-1s", "2i"}) {  // vmagent exits with these
        CHECK(place({{"__address__", "h:1"}, {"__scrape_interval__", never}}) ==
              "__scrape_interval__ must be longer than 0");
    }
}

TEST_CASE("vmagent's place: an address may be a URL") {
    CHECK(address_place("foo/bar/baz?abc=de") == "http://foo/bar/baz?abc=de foo:80");
    CHECK(address_place("http://foo", "https") == "http://foo/metrics foo:80");
    CHECK(address_place("https://foo/x") == "https://foo/x foo:443");
    CHECK(address_place("https://foo:443") == "https://foo:443/metrics foo:443");
    CHECK(address_place("ftp://foo") == "http://ftp://foo ftp:");
    CHECK(place({{"__address__", "http://foo/bar?abc=de"}, {"__param_xx", "yy"}}) ==
          "http://foo/bar?abc=de&xx=yy foo:80");
}

TEST_CASE("vmagent's place: parameters are those that have a label") {
    const LabelMap address{{"__address__", "h:1"}};
    const Params params{{"a", {"1", "2"}}, {"m", {"x"}}};
    CHECK(Case{address, params}.text() == "http://h:1/metrics?a=1&a=2&m=x h:1");
    CHECK(Case{address, params, {without("__param_m")}}.text() == "http://h:1/metrics?a=1&a=2 h:1");
    CHECK(Case{address, params, {without("__param_a"), without("__param_m")}}.text() ==
          "http://h:1/metrics h:1");
    CHECK(Case{{{"__address__", "h:1"}, {"__param_b", "c d"}}, {}}.text() ==
          "http://h:1/metrics?b=c+d h:1");
    CHECK(Case{{{"__address__", "h:1"}, {"__metrics_path__", "?abc=de"}, {"__param_x", "y"}}}
              .text() == "http://h:1/?abc=de&x=y h:1");
}

TEST_CASE("vmagent's place: the labels are in the URL as they are") {
    const auto path = [](const char* text) {
        return place({{"__address__", "h:1"}, {"__metrics_path__", text}});
    };
    CHECK(path("/a%20b") == "http://h:1/a%20b h:1");
    CHECK(path("/[x]") == "http://h:1/[x] h:1");
    CHECK(path("/a b") == "http://h:1/a b h:1");
    CHECK(path("/x#y") == "http://h:1/x#y h:1");
    CHECK(address_place("標籤:80") == "http://標籤:80/metrics 標籤:80");
    CHECK(path("/%zz") == "http://h:1/%zz is no URL: a '%' is not followed by two digits");
    CHECK(address_place("h:abc") == "http://h:abc/metrics is no URL: the port must be a number");
}

TEST_CASE("vmagent's place: an empty label of a target hides the job's default") {
    const BuiltTarget result = Case{{{"__address__", "h:1"}, {"job", ""}}}.build();
    const auto& target = std::get<ScrapeTargetPtr>(result);
    CHECK(target->public_labels() == LabelMap{{"instance", "h:1"}});
    CHECK_FALSE(target->discovered_labels().contains("job"));
    const RelabelRule map{.action = RelabelAction::labelmap, .regex = "__meta_(.+)"};
    const RelabelRule team{.target_label = "team", .replacement = "x"};
    const BuiltTarget mapped =
        Case{{{"__address__", "h:1"}, {"__meta_team", ""}}, {}, {team, map}}.build();
    CHECK(std::get<ScrapeTargetPtr>(mapped)->get("team").empty());
}

TEST_CASE("Go's URL: takes what url.Parse takes") {
    for (const char* url : {"http://h/",
                            "http://h",
                            "http://h:80/x",
                            "http://h:/x",
                            "http://",
                            "http:///x",
                            "http://[::1]:80/",
                            "http://[fe80::1%25en0]:80/",
                            "http://[fe80::1%25a%20b]/",
                            "http://[::ffff:1.2.3.4]/",
                            "http://user:pass@h/",
                            "http://a@b@h/",
                            "http://h/a b",
                            "http://h/ü",
                            "http://ü:80/",
                            "http://h/?%zz",
                            "http://h/a%20b#x",
                            "a+-.1://h/x",
                            "/x:y/z",
                            "///x",
                            "http://h:1:2/",
                            "http://%C3%BC/",
                            "http:x%zz",
                            "http://h<>\"/",
                            "http://h/#\t"}) {
        INFO(url);
        CHECK(go_url_problem(url) == "");
    }
}

TEST_CASE("Go's URL: refuses what url.Parse refuses") {
    for (const char* url : {"http://h:abc/",
                            "http://h p/",
                            "http://[::1/",
                            "http://[::1]x/",
                            "http://h%41/",
                            "1x://h/",
                            "://h",
                            "_a://h/",
                            "x y://h",
                            "http://h/%",
                            "http://h/%2",
                            "http://h/%zz",
                            "http://h/\x01",
                            "http://h\x7f/",
                            "http://h/#%zz",
                            "http://h\\x/",
                            "http://us er@h/",
                            "http://%zz@h/",
                            "http://[1.2.3.4]/",
                            "http://[x]/",
                            "http://a[::1]/",
                            "http://[fe80::1%25]/",
                            "http://[fe80::1%en0]/",
                            "http://h%/",
                            "http://h|/",
                            "http://[::1%25%41%C3]/",
                            "http://[::1]:a/"}) {
        INFO(url);
        CHECK(go_url_problem(url) != "");
    }
}

TEST_CASE("Go's URL: whatever comes is judged") {
    std::uint64_t state = 1;
    const std::string_view characters = "htp:/[]%25@#?&=.ax1 \\\xc3\xbc\x01";
    for (std::size_t i = 0; i < 50'000; ++i) {
        std::string text = i % 2 == 0 ? "http://" : "";
        for (std::size_t n = i % 23; n > 0; --n) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            text += characters[(state >> 33U) % characters.size()];
        }
        static_cast<void>(go_url_problem(text));
    }
    CHECK(go_url_problem(std::string(1'000'000, '%')) != "");
    CHECK(go_url_problem("http://" + std::string(1'000'000, '[')) != "");
}
