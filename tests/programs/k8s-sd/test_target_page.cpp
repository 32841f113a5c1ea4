#include "lists/list_selection.hpp"
#include "table/target_json.hpp"
#include "table/target_page.hpp"
#include "table_job.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

using k8s_sd_program::Facet;
using k8s_sd_program::PageRequest;
using k8s_sd_program::TargetCursor;
using k8s_sd_program::TargetPage;
namespace json = boost::json;

namespace {

json::object page_of(const TableJob& job, const PageRequest& request, std::size_t slice = 1000) {
    TargetPage page(request);
    while (page.read("web", job.table, rows_at_most(slice))) {
    }
    return json::parse(page.text()).as_object();
}

/// The addresses on all pages, in order.
std::vector<std::string> all_pages(
    TableJob& job, std::size_t limit, const std::function<void()>& between = [] {}) {
    std::vector<std::string> addresses;
    PageRequest request{.limit = limit};
    for (;;) {
        const json::object page = page_of(job, request, 7);
        for (const auto& row : page.at("rows").as_array()) {
            addresses.emplace_back(row.at("address").as_string());
        }
        if (page.at("next").is_null()) return addresses;
        request.after = k8s_sd_program::read_cursor(page.at("next").as_string());
        between();
    }
}

}  // namespace

TEST_CASE("TargetPage: its pages have every target once, in one order") {
    TableJob job;
    std::vector<std::string> expected;
    for (int i = 100; i < 150; ++i) {
        expected.push_back(std::to_string(i));
        job.put_pod("p" + expected.back(), expected.back());
    }
    CHECK(all_pages(job, 7) == expected);
    CHECK(all_pages(job, 50) == expected);
    CHECK(all_pages(job, 1) == expected);
    CHECK(page_of(job, {.limit = 3}).at("total") == 50);
}

TEST_CASE("TargetPage: targets with the same labels are on some page each") {
    TableJob job;
    for (int i = 0; i < 10; ++i) job.put("s" + std::to_string(i), {{{"__address__", "same"}}});
    CHECK(all_pages(job, 3).size() == 10);
}

TEST_CASE("TargetPage: a cursor stays where it is when other targets come and go") {
    TableJob job;
    for (int i = 100; i < 200; ++i) job.put_pod(std::to_string(i), std::to_string(i));
    int gone = 100;
    const auto addresses = all_pages(job, 10, [&] {
        // Before the cursor, and the row of the cursor itself.
        for (int i = 0; i < 10; ++i) job.table.remove(1, "pod/shop/" + std::to_string(gone++));
        job.put_pod("new" + std::to_string(gone), "0" + std::to_string(gone));
    });
    CHECK(addresses.size() == 100);
    CHECK(std::set<std::string>(addresses.begin(), addresses.end()).size() == 100);
}

TEST_CASE("TargetPage: facets count what was found, not what is shown") {
    TableJob job({TableJob::rule(k8s_sd::RelabelAction::drop, "__meta_x", "1")});
    job.put_pod("a", "a", {{"__meta_x", "1"}, {"__meta_kubernetes_pod_node_name", "n"}});
    job.put_pod("b", "b");
    job.put_pod("c", "c");
    PageRequest request{.limit = 1, .facets = true};
    auto facets = page_of(job, request).at("facets").as_object();
    CHECK(json::serialize(facets["state"]) ==
          R"([{"value":"active","count":2},{"value":"dropped","count":1}])");
    CHECK(json::serialize(facets["namespace"]) == R"([{"value":"shop","count":3}])");
    CHECK(json::serialize(facets["node"]) == R"([{"value":"n","count":1}])");
    CHECK(json::serialize(facets["reason"]) ==
          R"([{"value":"rule 0: drop if __meta_x matches 1","count":1}])");
    request.filter.of(Facet::reason) = {"rule 0: drop if __meta_x matches 1"};
    CHECK(page_of(job, request).at("total") == 1);
    request.filter.of(Facet::reason).clear();
    request.filter.of(Facet::state) = {"active"};
    CHECK(page_of(job, request).at("total") == 2);
}

TEST_CASE("TargetPage: a facet is counted without its own choice, so that more can be chosen") {
    TableJob job({TableJob::rule(k8s_sd::RelabelAction::drop, "__meta_x", "1")});
    const auto node = [](const std::string& name) {
        return k8s_sd::LabelMap{{"__meta_kubernetes_pod_node_name", name}};
    };
    job.put_pod("a", "a", node("n1"));
    job.put_pod("b", "b", node("n2"));
    job.put_pod("c", "c", {{"__meta_kubernetes_pod_node_name", "n2"}, {"__meta_x", "1"}});
    PageRequest request{.facets = true};
    request.filter.of(Facet::node) = {"n1"};
    auto page = page_of(job, request);
    CHECK(page.at("total") == 1);
    CHECK(json::serialize(page.at("facets").at("node")) ==
          R"([{"value":"n2","count":2},{"value":"n1","count":1}])");
    CHECK(json::serialize(page.at("facets").at("state")) == R"([{"value":"active","count":1}])");
    request.filter.of(Facet::node).insert("n2");
    CHECK(page_of(job, request).at("total") == 3);
    request.filter.of(Facet::state) = {"dropped"};
    page = page_of(job, request);
    CHECK(page.at("total") == 1);
    CHECK(page.at("facets").at("state").as_array().size() == 2);
    CHECK(json::serialize(page.at("facets").at("node")) == R"([{"value":"n2","count":1}])");
    request.facets = false;
    CHECK(page_of(job, request).at("total") == 1);
}

TEST_CASE("TargetPage: rows show the begin of long texts, and a page has so many bytes at most") {
    TableJob job({TableJob::copy("__meta_long", "long")});
    for (int i = 100; i < 400; ++i) {
        k8s_sd::LabelMap labels{
            {"__meta_long", std::string(255, 'x') + "\u00e9" + std::string(1 << 18, 'y')}};
        for (int n = 0; n < 30; ++n) {
            labels["l" + std::to_string(n)] = std::string(199, '"') + "\u00e9";
        }
        job.put_pod(std::to_string(i), std::to_string(i), labels);
    }
    PageRequest request{.limit = 1000};
    std::size_t rows = 0;
    for (int pages = 0; pages < 300; ++pages) {
        TargetPage page(request);
        page.read("web", job.table, rows_at_most(1000));
        const std::string text = page.text();
        CHECK(text.size() < TargetPage::max_bytes + 2000);
        const auto received = json::parse(text).as_object();
        for (const auto& row : received.at("rows").as_array()) {
            CHECK(row.at("labels").as_object().size() == 12);
            CHECK(row.at("labels_total") == 38);
            CHECK(row.at("cut") == true);
            CHECK(row.at("labels").at("l0").as_string() == std::string(199, '"'));
        }
        rows += received.at("rows").as_array().size();
        if (received.at("next").is_null()) break;
        request.after = k8s_sd_program::read_cursor(received.at("next").as_string());
    }
    CHECK(rows == 300);
}

TEST_CASE("TargetPage: what collectors do not have is unowned") {
    TableJob job({TableJob::rule(k8s_sd::RelabelAction::drop, "__meta_x", "1")});
    job.put_pod("a", "a", {{"__meta_kubernetes_pod_node_name", "n1"}});
    job.put_pod("b", "b", {{"__meta_kubernetes_pod_node_name", "n2"}});
    job.put_pod("c", "c", {{"__meta_x", "1"}});
    const k8s_sd_program::Collectors::Options per_node{.allocation =
                                                           k8s_sd_program::Allocation::per_node};
    const auto collectors = std::make_shared<const k8s_sd_program::Collectors>(
        std::vector<k8s_sd_program::Collector>{{"c-0", "n1"}}, per_node);
    PageRequest request{.facets = true};
    request.filter.collectors = std::make_shared<const k8s_sd_program::AllocationView>(
        std::vector<k8s_sd_program::CollectorsPtr>{collectors});
    request.filter.of(Facet::state) = {"unowned"};
    const auto page = page_of(job, request);
    CHECK(page.at("total") == 1);
    CHECK(page.at("rows").at(0).at("address") == "b");
    CHECK(page.at("facets").at("state").as_array().size() == 3);
}

TEST_CASE("cut: ends before a character, not in it") {
    CHECK(k8s_sd_program::cut("abc", 3) == "abc");
    CHECK(k8s_sd_program::cut("abcd", 3) == "abc");
    CHECK(k8s_sd_program::cut("a\u00e9b", 2) == "a");
    CHECK(k8s_sd_program::cut("a\U0001f600b", 4) == "a");
    CHECK(k8s_sd_program::cut("\x80\x80\x80\x80\x80\x80", 5) == "\x80\x80\x80\x80\x80");
}

TEST_CASE("TargetPage: a facet has its twenty largest values") {
    TableJob job;
    for (int i = 0; i < 60; ++i) {
        job.put_pod(std::to_string(i), std::to_string(i),
                    {{"__meta_kubernetes_pod_node_name", "n" + std::to_string(i % 30)}});
    }
    const auto page = page_of(job, {.facets = true});
    CHECK(page.at("facets").at("node").as_array().size() == 20);
    CHECK(page.at("facets").at("node").at(0).at("count") == 2);
}

TEST_CASE("TargetPage: of several jobs the pages go on where the last one ended") {
    TableJob job;
    for (int i = 0; i < 5; ++i) job.put_pod(std::to_string(i), std::to_string(i));
    PageRequest request{.limit = 3};
    std::vector<std::string> seen;
    for (int pages = 0; pages < 10; ++pages) {
        TargetPage page(request);
        for (const std::string name : {"a", "b", "c"}) {
            while (page.read(name, job.table, rows_at_most(2))) {
            }
        }
        const auto shown = json::parse(page.text()).as_object();
        CHECK(shown.at("total") == 15);
        for (const auto& row : shown.at("rows").as_array()) {
            seen.emplace_back(row.at("address").as_string());
        }
        if (shown.at("next").is_null()) break;
        request.after = k8s_sd_program::read_cursor(shown.at("next").as_string());
    }
    CHECK(seen.size() == 15);
}

TEST_CASE("TargetPage: missing groups are reported") {
    TargetPage page(PageRequest{});
    CHECK(page.text().find("building") == std::string::npos);
    CHECK(json::parse(page.text()).at("complete") == true);
    CHECK(json::parse(page.text(false)).at("complete") == false);
    page.missing(3);
    CHECK(json::parse(page.text()).at("building") == 3);
    CHECK(json::parse(page.text()).at("complete") == false);
}

TEST_CASE("TargetCursor: any bytes come back as they were; others are refused") {
    const TargetCursor cursor{"j.\n\xff/%", {"a.b\0\"", 0xfedcba9876543210ULL}, 3};
    const TargetCursor read = k8s_sd_program::read_cursor(cursor.text());
    CHECK(read.job == cursor.job);
    CHECK(read.position.address == cursor.position.address);
    CHECK(read.position.id == cursor.position.id);
    CHECK(read.equal == 3);
    for (const std::string bad :
         {"", ".", "...", "1.1.6.6", "x.1.61.61", "1.-1.61.61", "1.1.61",
          "11111111111111111.1.61.61", "1.99999999999.61.61", "1.1.6g.61", "-1.1.61.61"}) {
        CHECK_THROWS_AS(k8s_sd_program::read_cursor(bad), k8s_sd_program::BadRequest);
    }
    std::minstd_rand random(1);
    for (int i = 0; i < 2000; ++i) {
        std::string text = cursor.text();
        text[random() % text.size()] = static_cast<char>(random() % 256);
        try {
            k8s_sd_program::read_cursor(text);
        } catch (const k8s_sd_program::BadRequest&) {
        }
    }
}
