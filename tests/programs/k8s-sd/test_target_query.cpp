#include "table/target_query.hpp"
#include "table_job.hpp"

#include <catch2/catch_test_macros.hpp>
#include <ctime>
#include <random>
#include <set>
#include <string>

using namespace k8s_sd;
using k8s_sd_program::QueryError;
using k8s_sd_program::TargetQuery;

namespace {

/// Addresses of the targets that match.
std::set<std::string> matches_of(const TableJob& job, const std::string& query) {
    const TargetQuery read(query);
    std::set<std::string> found;
    for (const auto& row : job.table.rows()) {
        if (read.matches(row, job.table)) found.emplace(row.address);
    }
    return found;
}

using RowNames = std::set<std::string>;

TableJob& query_job() {
    static TableJob job({TableJob::rule(RelabelAction::drop, "__meta_kubernetes_pod_name", "db-.*"),
                         TableJob::copy("__meta_kubernetes_namespace", "team")});
    static const bool filled = [] {
        job.put_pod("web-1", "a:80", {{"__meta_kubernetes_pod_node_name", "n1"}, {"tier", "x y"}});
        job.put_pod("web-2", "b:80", {{"quote", "say \"hi\""}});
        job.put_pod("db-1", "c:80", {{"__meta_kubernetes_pod_label_App", "Orders"}});
        return true;
    }();
    static_cast<void>(filled);
    return job;
}

std::size_t query_error_place(const std::string& query) {
    try {
        const TargetQuery read(query);
    } catch (const QueryError& e) {
        CHECK_FALSE(std::string(e.what()).empty());
        return e.at();
    }
    FAIL("no mistake found in " << query);
    return 0;
}

}  // namespace

TEST_CASE("TargetQuery: nothing asked is everything found") {
    CHECK(matches_of(query_job(), "").size() == 3);
    CHECK(matches_of(query_job(), " ,, {} \n").size() == 3);
}

TEST_CASE("TargetQuery: matchers compare labels after relabelling, then discovered ones") {
    CHECK(matches_of(query_job(), R"(team="shop")") == RowNames{"a:80", "b:80"});
    CHECK(matches_of(query_job(), R"({namespace="shop", pod=~"web-.*"})") ==
          RowNames{"a:80", "b:80"});
    CHECK(matches_of(query_job(), R"(pod!~"web-.*")") == RowNames{"c:80"});
    CHECK(matches_of(query_job(), R"(pod!="web-1")") == RowNames{"b:80", "c:80"});
    CHECK(matches_of(query_job(), "pod=web-1") == RowNames{"a:80"});
    CHECK(matches_of(query_job(), "node=n1") == RowNames{"a:80"});
    CHECK(matches_of(query_job(), "job=web").size() == 3);
    CHECK(matches_of(query_job(), R"(quote="say \"hi\"")") == RowNames{"b:80"});
    CHECK(matches_of(query_job(), R"(pod=~"web")").empty());  // from begin to end
    CHECK(matches_of(query_job(), R"(missing="")").size() == 3);
    CHECK(matches_of(query_job(), R"("tier"='x y')") == RowNames{"a:80"});
}

TEST_CASE("TargetQuery: words are found anywhere, in any case; all terms must hold") {
    CHECK(matches_of(query_job(), "WEB-") == RowNames{"a:80", "b:80"});
    CHECK(matches_of(query_job(), "orders") == RowNames{"c:80"});
    CHECK(matches_of(query_job(), R"("x y")") == RowNames{"a:80"});
    CHECK(matches_of(query_job(), "web b:80") == RowNames{"b:80"});
    CHECK(matches_of(query_job(), "web orders").empty());
    CHECK(matches_of(query_job(), "n1") == RowNames{"a:80"});
}

TEST_CASE("TargetQuery: words are found in discovered labels of active targets, too") {
    TableJob job;
    job.put_pod("web-1", "a:80", {{"__meta_kubernetes_pod_annotation_owner", "Team Orange"}});
    CHECK(job.state("a:80") == k8s_sd_program::TargetState::active);
    CHECK(matches_of(job, "orange") == RowNames{"a:80"});
    CHECK(matches_of(job, "/Team O/") == RowNames{"a:80"});
    CHECK(matches_of(job, "purple").empty());
}

TEST_CASE("TargetQuery: a word that repeats itself is found") {
    TableJob job;
    job.put_pod("p", "a:80", {{"l", "xaabaabaaab"}});
    for (const std::string word : {"aabaaab", "abaab", "AAB", "aaab", "xaab", "b", "xaabaabaaab"}) {
        CHECK(matches_of(job, word) == RowNames{"a:80"});
    }
    for (const std::string word : {"aabaabb", "aaaa", "xab", "xaabaabaaabx"}) {
        CHECK(matches_of(job, word).empty());
    }
}

#if defined(K8S_SD_ADDRESS_SANITIZER)
constexpr std::clock_t no_long_time = 5 * CLOCKS_PER_SEC;
#else
constexpr std::clock_t no_long_time = CLOCKS_PER_SEC;
#endif

TEST_CASE("TargetQuery: a long word in a long text takes no long time") {
    TableJob job;
    job.put_pod("p", "a:80", {{"l", std::string(std::size_t{256} << 10, 'x')}});
    const TargetQuery query(std::string(TargetQuery::max_word_bytes - 1, 'x') + 'b');
    const std::clock_t begin = std::clock();
    for (int i = 0; i < 20; ++i) CHECK_FALSE(query.matches(*job.row("a:80"), job.table));
    CHECK(std::clock() - begin < no_long_time);
    CHECK(query_error_place("a " + std::string(TargetQuery::max_word_bytes + 1, 'x')) == 2);
}

TEST_CASE("TargetQuery: an expression that needs many states takes no long time") {
    TableJob job;
    job.put_pod("p", "a:80", {{"l", std::string(std::size_t{256} << 10, 'x')}});
    const std::clock_t begin = std::clock();
    for (const std::string query : {"/[xy]*x[xy]{500}z/", R"(l=~"[xy]*x[xy]{500}z")"}) {
        CHECK(matches_of(job, query).empty());
    }
    CHECK(std::clock() - begin < no_long_time);
    CHECK(matches_of(job, R"(l=~"x*")") == RowNames{"a:80"});
    CHECK(query_error_place("/(x{100}){50}/") == 0);
}

TEST_CASE("TargetQuery: expressions in slashes are found anywhere") {
    CHECK(matches_of(query_job(), "/web-[12]$/") == RowNames{"a:80", "b:80"});
    CHECK(matches_of(query_job(), R"(/pod\/shop\/db/)") == RowNames{"c:80"});
    CHECK(matches_of(query_job(), R"(/\d:80/ /web/)").empty());
}

TEST_CASE("TargetQuery: a mistake is reported with its position") {
    CHECK(query_error_place(R"(a="b)") == 2);
    CHECK(query_error_place("x /ab") == 2);
    CHECK(query_error_place(R"(pod=~"(")") == 5);
    CHECK(query_error_place("/(/") == 0);
    CHECK(query_error_place(R"(="x")") == 0);
    CHECK(query_error_place("a !b") == 2);
    CHECK(query_error_place(std::string(TargetQuery::max_bytes + 1, 'x')) ==
          TargetQuery::max_bytes);
    std::string many;
    for (std::size_t i = 0; i <= TargetQuery::max_terms; ++i) many += "w ";
    CHECK(query_error_place(many) == 2 * TargetQuery::max_terms);
    CHECK(query_error_place(R"x(a=~"((((x{100}){100}){100}){100})")x") == 3);  // too large
}

TEST_CASE("TargetQuery: expressions of one question have a limit together") {
    const std::string term = R"x(a=~"(?i)\pL{2}" )x";
    CHECK_NOTHROW(TargetQuery(term));
    std::string many;
    for (std::size_t i = 0; i < TargetQuery::max_terms; ++i) many += term;
    CHECK_THROWS_AS(TargetQuery(many), k8s_sd_program::QueryError);
    k8s_sd_program::QueryBudget budget;
    std::size_t queries = 0;
    try {
        for (;; ++queries) TargetQuery(term, budget);
    } catch (const k8s_sd_program::QueryError& e) {
        CHECK(std::string(e.what()) == "the expressions are too large together");
        CHECK(e.at() == 3);
    }
    CHECK(queries > 1);
    CHECK(queries < 8192 / 128);
    CHECK_NOTHROW(TargetQuery("web", budget));
}

TEST_CASE("TargetQuery: any bytes are read or refused") {
    std::minstd_rand random(3);
    const std::string bytes = "ab=~!\"'/\\{}(),. \n*+[]^$|\xff\x80";
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (auto n = random() % 12; n != 0; --n) {
            text += i % 2 ? bytes[random() % bytes.size()] : static_cast<char>(random() % 256);
        }
        try {
            const TargetQuery query(text);
            for (const auto& row : query_job().table.rows()) {
                static_cast<void>(query.matches(row, query_job().table));
            }
        } catch (const QueryError& e) {
            CHECK(e.at() <= text.size());
        }
    }
}
