#include "integration/discovery/job_fixture.hpp"
#include "support/config_fixtures.hpp"
#include "support/contains.hpp"
#include "support/plain_lists.hpp"
#include "support/router.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <optional>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A job "a" with the pods; resets the records of its setup.
struct Reload : Jobs {
    Reload() {
        settle_with({{"a", {pods()}}});
        host.take_diffs();
        take_requests();
    }
    bool asked_nothing() { return take_requests().empty(); }
};

}  // namespace

// --- unchanged configurations continue ----------------------------------------------------------

TEST_CASE("Reload: the same configuration again changes nothing") {
    Reload j;
    for (int i = 0; i < 3; ++i) j.settle_with({{"a", {j.pods()}}});
    CHECK(j.host.take_diffs().empty());
    CHECK(j.asked_nothing());
    CHECK(j.metrics->providers == 1);
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: a renamed job has its targets before the old one loses them") {
    Reload j;
    j.settle_with({{"b", {j.pods()}}});
    CHECK(j.host.take_diffs() == "b(full): 1(full)[~p1 ~p2]; a(last): 1(last)[-p1 -p2]");
    CHECK(j.asked_nothing());
    j.label("p1", "1");
    j.settle();
    CHECK(j.host.take_diffs() == "b: 1[~p1]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: it also has its targets if the old one had undelivered changes") {
    Reload j;
    j.settle_with({{"a", {j.pods()}, 1h}});
    j.label("p1", "1");
    j.server.remove("pods", "default", "p2");
    j.server.apply(pod({.name = "p3"}));
    j.settle();
    j.take_requests();
    CHECK(j.host.take_diffs().empty());
    j.settle_with({{"b", {j.pods()}, 1h}});
    CHECK(j.host.take_diffs() == "b(full): 1(full)[~p1 ~p3]; a(last): 1(last)[-p1 -p2]");
    CHECK(j.asked_nothing());
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: a copied job gets its targets at once, and keeps them without the original") {
    Reload j;
    j.settle_with({{"a", {j.pods()}}, {"b", {j.pods()}}});
    CHECK(j.host.take_diffs() == "b(full): 1(full)[~p1 ~p2]");
    j.settle_with({{"b", {j.pods()}}});
    CHECK(j.host.take_diffs() == "a(last): 1(last)[-p1 -p2]");
    CHECK(j.asked_nothing());
    j.server.remove("pods", "default", "p1");
    j.settle();
    CHECK(j.host.take_diffs() == "b: 1[-p1]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: jobs that swap names swap their targets in one diff each") {
    Reload j;
    j.settle_with({{"a", {j.pods()}}, {"b", {j.services()}}});
    j.host.take_diffs();
    j.take_requests();
    j.settle_with({{"a", {j.services()}}, {"b", {j.pods()}}});
    CHECK(j.host.take_diffs() ==
          "a: 1(last)[-p1 -p2] 2(full)[~s1]; b: 2(last)[-s1] 1(full)[~p1 ~p2]");
    CHECK(j.asked_nothing());
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: of several configurations those that remain are not touched") {
    Reload j;
    j.settle_with({{"a", {j.pods(), j.services()}}});
    CHECK(j.host.take_diffs() == "a: 2(full)[~s1]");
    j.take_requests();
    SECTION("in another order") { j.settle_with({{"a", {j.services(), j.pods()}}}); }
    SECTION("with one that does not work") {
        j.settle_with({{"a", {j.services(), Jobs::unusable(), j.pods()}}});
    }
    SECTION("without the other ones, whose targets go at once") {
        j.settle_with({{"a", {j.pods()}}});
        CHECK(j.host.take_diffs() == "a: 2(last)[-s1]");
        CHECK(j.server.open_connections() == 1);
    }
    CHECK(j.host.take_diffs().empty());
    CHECK(j.asked_nothing());
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: a hundred jobs that are renamed ask the server nothing") {
    Jobs j;
    const auto hundred = [&](const std::string& prefix) {
        std::vector<Job> jobs;
        for (int i = 0; i < 100; ++i) {
            jobs.push_back({prefix + std::to_string(i), {j.pods(), j.services()}});
        }
        return jobs;
    };
    j.settle_with(hundred("a"));
    j.take_requests();
    const auto generated = j.metrics->groups_generated.load();
    j.host.diffs = 0;
    j.settle_with(hundred("b"));
    CHECK(j.host.diffs == 200);
    j.settle_with(hundred("b"));
    CHECK(j.host.diffs == 200);
    CHECK(j.take_requests().empty());
    CHECK(j.metrics->groups_generated == generated);
    CHECK(j.metrics->providers == 2);
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: files are read again, and their names decide what is equal") {
    Jobs j;
    const TemporaryDirectory directory;
    const auto write = [&](const std::string& server) {
        return directory.write("kubeconfig",
                               "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
                               "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
                               "clusters: [{name: c, cluster: {server: \"" +
                                   server + "\"}}]\nusers: [{name: u, user: {token: t}}]\n");
    };
    DiscoveryConfig config{.watch = plain_lists()};
    config.kubeconfig_file = write(j.server.url());
    j.settle_with({{"a", {config}}});
    CHECK(j.host.take_diffs() == "a(full): 1(full)[~p1 ~p2]");
    write(j.server.url() + "/");
    j.settle_with({{"a", {config}}});
    CHECK(j.host.take_diffs().empty());
    // The manager follows the content of the files, without deciding anything.
    write("http://other.invalid");
    j.settle_with({{"a", {config}}});
    j.advance(std::chrono::seconds(10));
    CHECK(j.host.take_diffs().empty());
    CHECK(j.metrics->providers == 1);
    directory.write("kubeconfig", "{");
    CHECK(j.settle_with({{"a", {config}}}).size() == 1);
    CHECK(j.host.take_diffs().empty());
    CHECK(j.status("a").superseded == 1);
    CHECK(j.status("a").groups == 2);
    write("http://other.invalid");
    j.take_requests();
    CHECK(j.settle_with({{"a", {config}}}).empty());
    CHECK(j.host.take_diffs().empty());
    CHECK(j.take_requests().empty());
    CHECK(j.status("a").superseded == 0);
    CHECK(j.host.problems() == "");
}

// --- removals -----------------------------------------------------------------------------------

TEST_CASE("Reload: a removed job receives its removals, and its watches end") {
    Reload j;
    j.settle_with({{"b", {j.services()}}});
    CHECK(contains(j.host.take_diffs(), "a(last): 1(last)[-p1 -p2]"));
    CHECK(j.server.open_connections() == 1);
    CHECK(j.metrics->of(Kind::pod).watchers == 0);
    CHECK(j.metrics->of(Kind::pod).objects == 0);
    j.settle_with({});
    CHECK(j.host.take_diffs() == "b(last): 2(last)[-s1]");
    CHECK(j.is_quiet());
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: the last diff does not wait for the interval") {
    Reload j;
    j.settle_with({{"a", {j.pods()}, 1h}});
    j.settle_with({});
    CHECK(j.host.take_diffs() == "a(last): 1(last)[-p1 -p2]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: a job that goes before the host has heard of it is never mentioned") {
    Jobs j;
    j.server.deny("pods");
    j.settle_with({{"a", {j.pods()}}});
    SECTION("not listed") {}
    SECTION("listed, but not delivered") {
        j.server.allow("pods");
        // Until the snapshot contains it; the diff waits in the queue of the context.
        j.clock->advance(1min);
        while (j.host.manager->snapshot("a")->providers.empty()) {
            j.context.restart();
            REQUIRE(j.context.poll_one() == 1);
        }
    }
    j.settle_with({});
    j.settle_with({{"b", {}}});
    CHECK(j.host.take_diffs() == "b(full):");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: a job removed and added again before a delivery has lost nothing") {
    Reload j;
    j.apply({});
    CHECK_FALSE(j.host.manager->snapshot("a"));
    j.settle_with({{"a", {j.pods()}}});
    CHECK(j.host.take_diffs().empty());
    CHECK(j.asked_nothing());
    j.label("p1", "1");
    j.settle();
    CHECK(j.host.take_diffs() == "a: 1[~p1]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: a job that comes back later begins anew") {
    Reload j;
    j.settle_with({});
    j.settle_with({{"a", {j.pods()}}});
    CHECK(j.host.take_diffs() == "a(last): 1(last)[-p1 -p2]; a(full): 2(full)[~p1 ~p2]");
    CHECK(j.host.problems() == "");
}

// --- replacements -------------------------------------------------------------------------------

TEST_CASE("Reload: the targets of a replaced configuration go when the new one has been listed") {
    Reload j;
    j.server.deny("services");
    j.settle_with({{"a", {j.services()}}});
    j.advance(9min);
    CHECK(j.host.take_diffs().empty());
    CHECK(j.status("a").superseded == 1);
    CHECK(j.host.manager->providers("a") == std::vector<ProviderId>{2});
    CHECK(j.host.manager->providers("b").empty());
    CHECK(j.status("a").groups == 2);
    j.label("p1", "followed as before");
    j.settle();
    CHECK(j.host.take_diffs() == "a: 1[~p1]");
    j.server.allow("services");
    j.advance(1min);
    CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2] 2(full)[~s1]");
    CHECK(j.status("a").superseded == 0);
    CHECK(j.server.open_connections() == 1);
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: a changed selector leaves no moment without targets") {
    Reload j;
    j.server.apply(pod({.name = "p1", .labels = {{"app", "web"}}}));
    j.settle();
    j.host.take_diffs();
    DiscoveryConfig config = j.pods();
    config.selectors = {{Role::pod, "app=web", ""}};
    j.settle_with({{"a", {config}}});
    CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2] 2(full)[~p1]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: one that finds nothing takes the targets away, once it is listed") {
    Reload j;
    j.settle_with({{"a", {j.nodes()}}, {"b", {j.pods()}}});
    CHECK(j.host.take_diffs() == "b(full): 1(full)[~p1 ~p2]; a: 1(last)[-p1 -p2] 2(full)[]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: what was replaced stays until all that was added has been listed") {
    Reload j;
    j.server.deny("services");
    j.settle_with({{"a", {j.services(), j.nodes()}}});
    CHECK(j.host.take_diffs() == "a: 3(full)[]");
    CHECK(j.status("a").superseded == 1);
    j.server.allow("services");
    j.advance(1min);
    CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2] 2(full)[~s1]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: undelivered targets are dropped with their configuration") {
    Reload j;
    j.settle_with({{"a", {j.pods(), j.services()}, 5min}});
    CHECK(j.host.take_diffs().empty());  // the services have been listed, but the interval runs
    j.server.deny("nodes");
    j.settle_with({{"a", {j.pods(), j.nodes()}, 5min}});
    CHECK(j.status("a").superseded == 0);
    j.advance(6min);
    CHECK(j.host.take_diffs().empty());
    CHECK(j.host.sources("a") == "p1 p2");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: one that cannot be used takes no targets away") {
    Reload j;
    const Job unusable{"a", {Jobs::unusable()}, 0s, std::nullopt};
    CHECK(j.settle_with({unusable}).size() == 1);
    CHECK(j.status("a").superseded == 1);
    CHECK(j.host.manager->providers("a").empty());
    CHECK(j.settle_with({unusable}).size() == 1);  // again
    j.advance(1h);
    CHECK(j.host.take_diffs().empty());
    CHECK(j.host.sources("a") == "p1 p2");
    SECTION("until it can") {
        j.settle_with({{"a", {j.services()}, 0s, std::nullopt}});
        CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2] 2(full)[~s1]");
    }
    SECTION("until it is given up") {
        j.settle_with({{"a", {}}});
        CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2]");
    }
    SECTION("and the old one can be had back") {
        j.take_requests();
        j.settle_with({{"a", {j.pods()}}});
        CHECK(j.host.take_diffs().empty());
        CHECK(j.asked_nothing());
        CHECK(j.status("a").superseded == 0);
    }
    SECTION("and goes with the job") {
        j.settle_with({});
        CHECK(j.host.take_diffs() == "a(last): 1(last)[-p1 -p2]");
    }
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: what was replaced goes after a while, also if the new one never comes") {
    Reload j;
    j.server.deny("services");
    j.settle_with({{"a", {j.services()}}});
    SECTION("ten minutes, if nothing else is said") {
        j.advance(10min - 1s);
        CHECK(j.host.take_diffs().empty());
        CHECK(j.status("a").superseded == 1);
        j.advance(1s);
        CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2]");
    }
    SECTION("counted from when it was replaced, whatever follows") {
        j.advance(5min);
        j.server.deny("nodes");
        j.settle_with({{"a", {j.nodes()}}});
        j.advance(5min);
        CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2]");
    }
    SECTION("as long as the newest configuration says") {
        j.settle_with({{"a", {j.services()}, 0s, 1min}});
        j.advance(1min);
        CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2]");
    }
    SECTION("at once, if it is to be") {
        j.settle_with({{"a", {j.services()}, 0s, 0s}});
        CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2]");
    }
    SECTION("but not before the interval") {
        j.settle_with({{"a", {j.services()}, 1h, 1min}});
        j.advance(59min);
        CHECK(j.host.take_diffs().empty());
        j.advance(1min);
        CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2]");
    }
    CHECK(j.status("a").superseded == 0);
    CHECK(j.metrics->of(Kind::pod).watchers == 0);
    j.server.allow("services");
    j.server.allow("nodes");
    j.advance(1h);
    CHECK(contains(j.host.take_diffs(), "(full)["));
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: what was replaced and comes back has its whole time again") {
    Reload j;
    j.server.deny("services");
    j.settle_with({{"a", {j.services()}}});
    j.advance(9min);
    j.settle_with({{"a", {j.pods()}}});
    j.advance(1h);
    j.settle_with({{"a", {j.services()}}});
    j.advance(9min);
    CHECK(j.host.take_diffs().empty());
    j.advance(1min);
    CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: a job that goes while something of it is superseded leaves nothing behind") {
    Reload j;
    j.server.deny("services");
    j.settle_with({{"a", {j.services()}}});
    j.settle_with({});
    CHECK(j.host.take_diffs() == "a(last): 1(last)[-p1 -p2]");
    j.advance(10min);
    CHECK(j.is_quiet());
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: a second configuration keeps what is still served, and forgets the first one") {
    Reload j;
    j.server.deny("services");
    j.server.deny("ingresses");
    j.settle_with({{"a", {j.services()}}});
    j.settle_with({{"a", {j.config(Role::ingress)}}});
    CHECK(j.status("a").superseded == 1);
    CHECK(j.metrics->of(Kind::service).watchers == 0);  // it had no state to keep
    j.server.allow("services");
    j.advance(1min);
    CHECK(j.host.take_diffs().empty());
    j.server.apply(ingress("i1", "example.org"));
    j.server.allow("ingresses");
    j.advance(1min);
    CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2] 3(full)[~i1]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: what is awaited need not be waited for when it is given up") {
    Reload j;
    j.settle_with({{"a", {j.pods(), j.nodes()}}});
    j.host.take_diffs();
    j.server.deny("services");
    j.settle_with({{"a", {j.nodes(), j.services()}}});
    CHECK(j.host.take_diffs().empty());
    CHECK(j.status("a").superseded == 1);
    j.settle_with({{"a", {j.nodes()}}});
    CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: what is only taken away does not wait for one that never worked") {
    Reload j;
    j.server.deny("services");
    j.settle_with({{"a", {j.pods(), j.nodes(), j.services(), Jobs::unusable()}}});
    j.host.take_diffs();
    j.settle_with({{"a", {j.nodes(), j.services(), Jobs::unusable()}}});
    CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2]");
    CHECK(j.status("a").superseded == 0);
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: nor does what is replaced by another one") {
    Reload j;
    j.server.deny("services");
    j.settle_with({{"a", {j.pods(), j.services(), Jobs::unusable()}}});
    j.host.take_diffs();
    j.settle_with({{"a", {j.nodes(), j.services(), Jobs::unusable()}}});
    CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2] 3(full)[]");
    CHECK(j.status("a").superseded == 0);
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: one that cannot be used is another one as soon as it says something else") {
    Reload j;
    j.settle_with({{"a", {j.pods(), Jobs::unusable()}}});
    DiscoveryConfig other = Jobs::unusable();
    other.role = Role::service;
    j.settle_with({{"a", {other}}});
    CHECK(j.host.take_diffs().empty());
    CHECK(j.status("a").superseded == 1);
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: while one is awaited, another one that is only taken away goes at once") {
    Reload j;
    j.settle_with({{"a", {j.pods(), j.services()}}});
    j.host.take_diffs();
    j.server.deny("nodes");
    j.settle_with({{"a", {j.nodes(), j.services()}}});
    j.settle_with({{"a", {j.nodes()}}});
    CHECK(j.host.take_diffs() == "a: 2(last)[-s1]");
    CHECK(j.host.sources("a") == "p1 p2");
    CHECK(j.status("a").superseded == 1);
    j.server.allow("nodes");
    j.advance(1min);
    CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2] 3(full)[]");
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: what was superseded can be wanted again, also when it is about to go") {
    Reload j;
    j.settle_with({{"a", {j.pods()}, 1h}});
    j.settle_with({{"a", {j.services()}, 1h}});  // listed at once; the diff waits
    CHECK(j.status("a").superseded == 0);
    CHECK(j.status("a").groups == 1);
    j.take_requests();
    SECTION("before anything was delivered") {
        j.settle_with({{"a", {j.pods()}, 1h}});
        j.advance(2h);
        CHECK(j.host.take_diffs().empty());
        CHECK(j.status("a").groups == 2);
    }
    SECTION("beside the new one") {
        j.settle_with({{"a", {j.pods(), j.services()}, 1h}});
        j.advance(2h);
        CHECK(j.host.take_diffs() == "a: 2(full)[~s1]");
    }
    SECTION("while a third one is awaited") {
        j.server.deny("nodes");
        j.settle_with({{"a", {j.nodes()}, 1h, std::nullopt}});
        j.advance(2h);
        CHECK(j.host.take_diffs().empty());
        CHECK(j.status("a").superseded == 1);
        CHECK(j.host.sources("a") == "p1 p2");
        j.server.allow("nodes");
        j.advance(2h);
        CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2] 3(full)[]");
    }
    SECTION("while a third one is awaited, for its whole time at most") {
        j.server.deny("nodes");
        j.advance(30min);
        j.settle_with({{"a", {j.nodes()}, 1h, 45min}});
        j.advance(29min);
        CHECK(j.host.take_diffs().empty());
        CHECK(j.status("a").superseded == 0);
        j.advance(1min);
        CHECK(j.host.take_diffs() == "a: 1(last)[-p1 -p2]");
    }
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: one bad configuration hurts neither its job nor others") {
    Reload j;
    DiscoveryConfig wrong_selector = j.services();
    wrong_selector.selectors = {{Role::service, "a==!b", ""}};
    DiscoveryConfig negative = j.services();
    negative.min_update_interval = -1s;
    const auto failures = j.settle_with(
        {{"b", {wrong_selector, j.services(), negative}}, {"a", {j.pods(), Jobs::unusable()}}});
    REQUIRE(failures.size() == 3);
    CHECK(failures[0].job == "b");
    CHECK(failures[0].config == 0);
    CHECK(contains(failures[0].message, "selectors"));
    CHECK(failures[1].config == 2);
    CHECK(contains(failures[1].message, "min_update_interval"));
    CHECK(failures[2].job == "a");
    CHECK(j.host.take_diffs() == "b(full): 2(full)[~s1]");
    CHECK(j.metrics->failed_configs == 3);
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: jobs without a name or with one name are refused as a whole") {
    Reload j;
    CHECK(config_error([&] {
              j.apply({{"b", {}}, {"", {}}});
          }) == "jobs[1].name: is empty; give each job its own name");
    CHECK(config_error([&] {
              j.apply({{"b", {}}, {"c", {}}, {"b", {j.pods()}}});
          }) ==
          "jobs[2].name: \"b\" is also the name of an earlier job; give each job its own name");
    CHECK(config_error([&] {
              j.apply({{"b", {}, -1s}});
          }) == "jobs[0].min_update_interval: must not be negative");
    CHECK(config_error([&] {
              j.apply({{"b", {}, 0s, -1s}});
          }) == "jobs[0].supersede_timeout: must not be negative");
    j.settle();
    CHECK(j.host.take_diffs().empty());
    CHECK(j.host.manager->status().size() == 1);
    CHECK(j.host.problems() == "");
}

TEST_CASE("Reload: a secret is in no message") {
    Reload j;
    DiscoveryConfig config = j.pods();
    config.api_server.auth.bearer_token = "hunter2";
    config.api_server.auth.username = "u";
    const auto failures = j.settle_with({{"a", {config}}});
    REQUIRE(failures.size() == 1);
    CHECK_FALSE(contains(failures[0].message, "hunter2"));
    CHECK_FALSE(contains(j.status("a").configs[0].status.message, "hunter2"));
}

TEST_CASE("DiscoveryManager: a kubeconfig that names the same server changes nothing, whatever its "
          "credentials are now") {
    TwoServers s;
    s.server.apply(pod({.name = "p1"}));
    JobHost host(s.context.get_executor());
    host.run();
    DiscoveryConfig config{.watch = plain_lists()};
    config.kubeconfig_file = s.kubeconfig();
    const std::vector<Job> jobs{{"a", {config}}};
    host.manager->apply_config(jobs);
    s.settle();
    CHECK(host.take_diffs() == "a(full): 1(full)[~p1]");
    s.take_requests();
    for (const char* user : {"token: two", "as: alice", "token: one"}) {
        s.lead_to("https://first", user);
        host.manager->apply_config(jobs);
        s.settle();
    }
    CHECK(host.take_diffs().empty());
    CHECK(s.take_requests().empty());
    CHECK(s.metrics->providers == 1);

    // The provider has loaded the new content of the file.
    s.lead_to("https://first", "token: three");
    s.server.set_token("three");
    host.manager->apply_config(jobs);
    s.advance(10s);
    s.server.end_watches();
    s.advance(1s);
    CHECK(s.take_requests().size() == 1);  // none was refused
    s.server.apply(pod({.name = "p2"}));
    s.settle();
    CHECK(host.take_diffs() == "a: 1[~p2]");
    CHECK(host.problems().empty());
}

TEST_CASE("DiscoveryManager: a kubeconfig that names another server is followed by its provider") {
    TwoServers s;
    s.server.apply(pod({.name = "p1"}));
    s.server.apply(pod({.name = "p2"}));
    s.second.apply(pod({.name = "p1"}));
    s.second.apply(pod({.name = "p3"}));
    JobHost host(s.context.get_executor());
    host.run();
    DiscoveryConfig config{.watch = plain_lists()};
    config.kubeconfig_file = s.kubeconfig();
    host.manager->apply_config({{"a", {config}}});
    s.settle();
    host.take_diffs();
    s.lead_to("https://second");
    host.manager->apply_config({{"a", {config}}});
    s.advance(10s);
    CHECK(host.sources("a") == "p1 p3");
    CHECK(s.metrics->providers == 1);
    CHECK(s.server.open_watches() == 0);
    // A job that begins now shares the existing watches.
    host.manager->apply_config({{"a", {config}}, {"b", {config}}});
    s.settle();
    CHECK(host.sources("b") == "p1 p3");
    CHECK(s.metrics->providers == 1);
    CHECK(host.problems().empty());
}

TEST_CASE("DiscoveryManager: own settings beside a kubeconfig distinguish configurations") {
    TwoServers s;
    s.server.apply(pod({.name = "p1"}));
    JobHost host(s.context.get_executor());
    host.run();
    DiscoveryConfig one{.watch = plain_lists()};
    one.kubeconfig_file = s.kubeconfig();
    DiscoveryConfig with_header = one;
    with_header.api_server.headers = {{"X-Team", "a"}};
    DiscoveryConfig as_alice = one;
    as_alice.api_server.impersonate.user = "alice";
    host.manager->apply_config({{"a", {one}}, {"b", {with_header}}, {"c", {as_alice}}});
    s.settle();
    CHECK(s.metrics->providers == 3);
    CHECK(s.server.open_watches() == 3);
}
