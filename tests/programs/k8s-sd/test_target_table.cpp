#include "table_job.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace k8s_sd;
using k8s_sd_program::TargetState;
using k8s_sd_program::TargetTable;

namespace {

/// The entire table, in its order.
std::vector<std::tuple<std::string, std::uint64_t, TargetState, std::string>> rows_of(
    const TargetTable& table) {
    std::vector<std::tuple<std::string, std::uint64_t, TargetState, std::string>> rows;
    for (const auto& row : table.rows()) {
        rows.emplace_back(row.address, row.id, row.state, table.reason(row));
    }
    return rows;
}

}  // namespace

TEST_CASE("TargetTable: says of each target what became of it, and which rule dropped it") {
    TableJob job({TableJob::copy("__meta_x", "x"),
                  TableJob::rule(RelabelAction::keep, "x", "yes|bad"),
                  TableJob::rule(RelabelAction::drop, "__meta_late", "true"),
                  TableJob::copy("__meta_scheme", "__scheme__")});
    job.put("a", {{{"__address__", "a:1"}, {"__meta_x", "yes"}},
                  {{"__address__", "b:1"}, {"__meta_x", "no"}},
                  {{"__address__", "c:1"}, {"__meta_x", "yes"}, {"__meta_late", "true"}},
                  {{"__address__", "d/e:1"}, {"__meta_x", "yes"}}});
    CHECK(job.state("a:1") == TargetState::active);
    CHECK(job.table.reason(*job.row("a:1")).empty());
    CHECK(job.state("b:1") == TargetState::dropped);
    CHECK(job.row("b:1")->rule == 1);
    CHECK(job.table.reason(*job.row("b:1")) == "rule 1: keep if x matches yes|bad");
    CHECK(job.row("c:1")->rule == 2);
    CHECK(job.table.rule_text(*job.row("c:1")) == "drop if __meta_late matches true");
    CHECK(job.state("d/e:1") == TargetState::failed);
    CHECK(job.table.reason(*job.row("d/e:1")).find("__address__") != std::string_view::npos);
    CHECK(job.table.counts().by_state == std::array<std::size_t, 4>{1, 2, 1, 0});
    CHECK(job.table.counts().by_rule == std::vector<std::size_t>{0, 1, 1, 0});
}

TEST_CASE("TargetTable: the rule is that which the explanation names, whatever the rules are") {
    using enum RelabelAction;
    TableJob job({TableJob::rule(labeldrop, "", "__meta_b"), TableJob::copy("__meta_a", "a"),
                  TableJob::rule(drop, "__meta_b", "1"), TableJob::rule(keep, "a", "1|2"),
                  TableJob::rule(drop, "a", "2")});
    for (const std::string a : {"1", "2", "3"}) {
        job.put(a, {{{"__address__", a}, {"__meta_a", a}, {"__meta_b", "1"}}});
        const auto steps = job.builder.explain(*job.row(a)->group, 0).rules;
        CHECK((job.state(a) == TargetState::dropped) == steps.back().dropped);
        if (steps.back().dropped) CHECK(job.row(a)->rule == steps.back().rule);
    }
}

TEST_CASE(
    "TargetTable: of equal targets the first one in the order is active, and the next follows") {
    TableJob job({TableJob::copy("__meta_to", "__address__")});
    job.put("b", {{{"__address__", "b:1"}, {"__meta_to", "same:1"}}});
    CHECK(job.state("b:1") == TargetState::active);
    job.put("a", {{{"__address__", "a:1"}, {"__meta_to", "same:1"}}});
    CHECK(job.state("a:1") == TargetState::active);
    CHECK(job.state("b:1") == TargetState::duplicate);
    job.put("c", {{{"__address__", "c:1"}, {"__meta_to", "same:1"}}});
    CHECK(job.state("c:1") == TargetState::duplicate);
    CHECK(job.table.counts().of(TargetState::duplicate) == 2);
    job.table.remove(1, "a");
    CHECK(job.state("b:1") == TargetState::active);
    CHECK(job.state("c:1") == TargetState::duplicate);
}

TEST_CASE("TargetTable: an id depends on the job and the discovered labels, and on nothing else") {
    TableJob one, other;
    one.put("x", {{{"__address__", "a:1"}, {"l", "1"}}, {{"__address__", "b:1"}}});
    other.put("y", {{{"l", "1"}, {"__address__", "a:1"}}});
    CHECK(one.row("a:1")->id == other.row("a:1")->id);
    CHECK(one.row("a:1")->id != one.row("b:1")->id);
    const auto& group = *one.row("a:1")->group;
    CHECK(k8s_sd_program::target_id("other", k8s_sd_program::discovered_labels(group, 0)) !=
          one.row("a:1")->id);
    CHECK(k8s_sd_program::id_text(0x1fULL) == "000000000000001f");
}

TEST_CASE("TargetTable: made in slices, with changes in between, it is the same as made at once") {
    TableJob job({TableJob::rule(RelabelAction::drop, "__meta_drop", "1")});
    TargetTable::Groups groups;
    for (int i = 0; i < 50; ++i) {
        const std::string n = std::to_string(i);
        groups.emplace_back(1, job.group("s" + n, {{{"__address__", n}, {"__meta_drop", "0"}},
                                                   {{"__address__", n + "b"}}}));
    }
    TargetTable sliced(job.builder, groups);
    CHECK_FALSE(sliced.advance(10));
    CHECK(sliced.rows().size() == 10);
    const auto changed = job.group("s7", {{{"__address__", "7"}, {"__meta_drop", "1"}}});
    sliced.put(1, changed);   // read or not
    sliced.remove(1, "s49");  // the same
    sliced.remove(1, "s0");
    sliced.remove(1, "not there");
    while (!sliced.advance(10)) CHECK(sliced.unread_groups() != 0);
    std::erase_if(groups, [](const auto& group) {
        return group.second->source() == "s7" || group.second->source() == "s49" ||
               group.second->source() == "s0";
    });
    groups.emplace_back(1, changed);
    TargetTable fresh(job.builder, groups);
    CHECK(fresh.advance(1'000'000));
    CHECK(rows_of(sliced) == rows_of(fresh));
    CHECK(sliced.counts().by_state == fresh.counts().by_state);
}

TEST_CASE("TargetTable: a large group is read in slices, also when it changes meanwhile") {
    TableJob job;
    std::vector<LabelMap> targets;
    for (int i = 0; i < 5000; ++i) targets.push_back({{"__address__", std::to_string(i)}});
    TargetTable sliced(job.builder, {{1, job.group("s", targets)}});
    CHECK_FALSE(sliced.advance(100));
    CHECK(sliced.rows().size() == 100);
    CHECK(sliced.unread_groups() == 1);
    targets.pop_back();
    sliced.put(1, job.group("s", targets));
    CHECK(sliced.rows().empty());
    CHECK_FALSE(sliced.advance(4998));
    CHECK(sliced.advance(1));
    CHECK(sliced.rows().size() == 4999);
    sliced.put(1, job.group("s", targets));
    CHECK_FALSE(sliced.advance(100));
    sliced.remove(1, "s");
    CHECK(sliced.complete());
    CHECK(sliced.rows().empty());
    CHECK(sliced.counts().of(TargetState::active) == 0);
}

TEST_CASE("TargetTable: after any changes it says what a new one says") {
    TableJob job({TableJob::rule(RelabelAction::drop, "__meta_v", "[0-3]"),
                  TableJob::copy("__meta_to", "__address__")});
    std::minstd_rand random(7);
    std::map<std::string, TargetGroupPtr> state;
    const auto one_of = [&](unsigned n) { return std::to_string(random() % n); };
    for (int step = 0; step < 2000; ++step) {
        const std::string source = one_of(30);
        if (random() % 4 == 0) {
            job.table.remove(1, source);
            state.erase(source);
            continue;
        }
        std::vector<LabelMap> targets(1 + random() % 3);
        for (LabelMap& target : targets) {
            target = {{"__address__", one_of(20)}, {"__meta_v", one_of(8)}};
            if (random() % 2) target["__meta_to"] = one_of(5);
        }
        state[source] = job.group(source, targets);
        job.table.put(1, state[source]);
    }
    TargetTable::Groups groups;
    for (const auto& [source, group] : state) groups.emplace_back(1, group);
    TargetTable fresh(job.builder, groups);
    fresh.advance(1'000'000);
    CHECK(rows_of(job.table) == rows_of(fresh));
    CHECK(job.table.counts().by_state == fresh.counts().by_state);
    CHECK(job.table.counts().by_rule == fresh.counts().by_rule);
    CHECK(fresh.counts().of(TargetState::duplicate) != 0);
}
