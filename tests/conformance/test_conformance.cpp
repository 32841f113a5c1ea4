#include "conformance/cluster.hpp"
#include "conformance/comparison.hpp"
#include "conformance/corpus.hpp"
#include "k8s_sd/config_yaml.hpp"
#include "support/effort.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::test {

namespace {

/// All targets of a job. Role node: without "instance", which the corpus omits because it is not a
/// meta label.
std::vector<LabelMap> targets_of(const Cluster::Job& job) {
    std::vector<LabelMap> all;
    for (const auto& [source, targets] : job.ledger.state()) {
        for (LabelMap target : targets) {
            if (job.config.role == Role::node) target.erase("instance");
            all.push_back(std::move(target));
        }
    }
    return all;
}

/// Checks every job in the present state. \returns the number of compared answers
std::size_t check_state(const Cluster& cluster, const std::filesystem::path& state,
                        LabelDialect dialect) {
    std::size_t compared = 0;
    for (const auto& job : cluster.jobs()) {
        const auto answer = read_answer(state, job->name, dialect);
        if (!answer) continue;
        INFO("state " << state.filename().string() << ", job " << job->name);
        CHECK(job->discoverer->status().message == "");
        CHECK(job->ledger.diffs > 0);
        CHECK(job->ledger.complaints == "");
        CHECK(difference(*answer, targets_of(*job), dialect) == "");
        ++compared;
    }
    return compared;
}

/// The sources with different groups, one per line.
template <class Groups>
std::string different_sources(const Groups& lived, const Groups& fresh) {
    std::string text;
    for (const auto& [source, targets] : lived) {
        const auto it = fresh.find(source);
        if (it == fresh.end())
            text += source + " is outdated\n";
        else if (it->second != targets)
            text += source + " is different\n";
    }
    for (const auto& [source, targets] : fresh) {
        if (!lived.contains(source)) text += source + " is missing\n";
    }
    return text;
}

/// The long-lived discoverers have the same groups as new ones.
void check_like_new(const Cluster& lived, const Cluster& fresh) {
    REQUIRE(lived.jobs().size() == fresh.jobs().size());
    for (std::size_t i = 0; i < lived.jobs().size(); ++i) {
        INFO("job " << lived.jobs()[i]->name);
        CHECK(different_sources(lived.jobs()[i]->ledger.state(), fresh.jobs()[i]->ledger.state()) ==
              "");
    }
}

void check_requests(const Cluster& cluster) {
    const RequestCounts expected = cluster.expected_requests();
    const RequestCounts found = cluster.requests();
    for (const auto& [url, count] : expected) {
        INFO("URL " << url);
        REQUIRE(found.contains(url));
        CHECK(found.at(url).lists == count.lists);
        CHECK(found.at(url).watches == count.watches);
    }
    CHECK(found.size() == expected.size());
}

/// No LIST, and no more watches than without sharing.
void check_streamed_requests(const Cluster& cluster) {
    RequestCount expected;
    RequestCount found;
    for (const auto& [url, count] : cluster.expected_requests()) expected.watches += count.watches;
    for (const auto& [url, count] : cluster.requests()) {
        found.lists += count.lists;
        found.watches += count.watches;
    }
    CHECK(found.lists == 0);
    CHECK(found.watches <= expected.watches);
}

void check_case(const std::string& name, LabelDialect dialect, Pace pace = Pace::each_event,
                sim::TransportFaults faults = {}, Encoding encoding = Encoding::protobuf) {
    const CorpusCase c = read_case(name);
    Cluster cluster(c, c.states.front(), dialect, faults, encoding);
    std::size_t compared = check_state(cluster, c.states.front(), dialect);
    const auto check = encoding == Encoding::streamed ? check_streamed_requests : check_requests;
    check(cluster);
    for (std::size_t i = 1; i < c.states.size(); ++i) {
        cluster.perform(c.states[i], pace);
        compared += check_state(cluster, c.states[i], dialect);
        check(cluster);
        check_like_new(cluster, Cluster(c, c.states[i], dialect));
    }
    CHECK(compared == count_answers(name, dialect));
    CHECK(cluster.fallbacks() == 0);
}

void check_all_cases(LabelDialect dialect, Encoding encoding = Encoding::protobuf) {
    for (const std::string& name : corpus_cases()) {
        DYNAMIC_SECTION(name) { check_case(name, dialect, Pace::each_event, {}, encoding); }
    }
}

}  // namespace

TEST_CASE("Conformance: the corpus is complete") {
    std::size_t prometheus = 0;
    std::size_t victoriametrics = 0;
    std::size_t jobs = 0;
    for (const std::string& name : corpus_cases()) {
        prometheus += count_answers(name, LabelDialect::prometheus);
        victoriametrics += count_answers(name, LabelDialect::victoriametrics);
        jobs += read_case(name).jobs.size();
    }
    CHECK(corpus_cases().size() == 42);
    CHECK(jobs == 261);
    CHECK(count_jobs() == 261);
    CHECK(prometheus == 405);
    CHECK(victoriametrics == 464);
}

TEST_CASE("Conformance: every job has the targets that Prometheus finds") {
    check_all_cases(LabelDialect::prometheus);
}

TEST_CASE("Conformance: every job has the targets that vmagent finds") {
    check_all_cases(LabelDialect::victoriametrics);
}

TEST_CASE("Conformance: in JSON every job has the targets that Prometheus finds") {
    check_all_cases(LabelDialect::prometheus, Encoding::json);
}

TEST_CASE("Conformance: in JSON every job has the targets that vmagent finds") {
    check_all_cases(LabelDialect::victoriametrics, Encoding::json);
}

TEST_CASE("Conformance: jobs that share streamed lists have the targets that Prometheus finds") {
    check_all_cases(LabelDialect::prometheus, Encoding::streamed);
}

TEST_CASE("Conformance: jobs that share streamed lists have the targets that vmagent finds") {
    check_all_cases(LabelDialect::victoriametrics, Encoding::streamed);
}

TEST_CASE("Conformance: targets do not depend on how bytes are cut into reads") {
    std::vector<std::string> cases = corpus_cases();
    std::erase_if(cases, [](const std::string& name) { return !name.starts_with("steps-"); });
    for (const LabelDialect dialect : {LabelDialect::prometheus, LabelDialect::victoriametrics}) {
        for (std::size_t i = 0; i < cases.size(); i += step_of(4)) {
            DYNAMIC_SECTION(to_string(dialect) << ", " << cases[i]) {
                check_case(cases[i], dialect, Pace::whole_step, {.max_read = 1});
            }
        }
    }
}

TEST_CASE("Conformance: of the jobs without an answer of Prometheus the wrong ones are refused") {
    // The others use options that Prometheus added after the recorded version.
    const std::set<std::string> wrong{"selectors-of-several-roles/pod-with-service-selector",
                                      "selectors-of-several-roles/pod-with-two-selectors",
                                      "slices-by-hand/endpointslices"};
    std::set<std::string> refused;
    std::size_t without_answer = 0;
    for (const std::string& name : corpus_cases()) {
        const CorpusCase c = read_case(name);
        for (const CorpusJob& job : c.jobs) {
            if (read_answer(c.states.front(), job.name, LabelDialect::prometheus)) continue;
            ++without_answer;
            try {
                parse_sd_config(job.yaml, LabelDialect::prometheus);
            } catch (const ConfigError&) {
                refused.insert(name + "/" + job.name);
            }
        }
    }
    CHECK(without_answer == 34);
    CHECK(refused == wrong);
}

}  // namespace k8s_sd::test
