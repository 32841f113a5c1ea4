#include "property/expected_targets.hpp"
#include "property/random_cluster.hpp"
#include "support/host.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;
using sim::Response;

namespace {

/// A random cluster that changes, random faults between it and some random hosts; at last the
/// faults stop.
class Scenario {
 public:
    explicit Scenario(std::uint64_t seed)
        : random_(seed),
          sim_(server_options(random_), transport(random_)),
          cluster_(random_, sim_.server) {
        for (unsigned i = random_.below(60); i > 0; --i) cluster_.change();
        for (unsigned i = 0; i < 4; ++i) {
            const DiscoveryConfig config =
                i == 0 || random_.one_in(2) ? random_config() : configs_[0];
            add_host(config);
        }
    }

    void run() {
        sim_.server.set_intercept([this](const auto&) { return fault(); });
        for (unsigned i = 100; i > 0; --i) {
            step();
            for (unsigned n = random_.below(40); n > 0; --n) sim_.context.poll_one();
            if (random_.one_in(3)) sim_.advance(std::chrono::milliseconds(random_.below(4000)));
        }
    }

    void end_faults() {
        sim_.server.set_intercept({});
        sim_.server.accept_connections(true);
        for (std::size_t kind = 0; kind < kind_count; ++kind) {
            sim_.server.allow(to_string(static_cast<Kind>(kind)));
        }
        sim_.advance(11min);  // a watch that was never answered is given up after ten
    }

    void check() {
        for (std::size_t i = 0; i < hosts_.size(); ++i) {
            const Host& host = *hosts_[i];
            CAPTURE(i, to_string(configs_[i].role), to_string(configs_[i].dialect));
            CHECK(host.complaints == "");
            CHECK(host.discoverer->status().synced);
            CHECK_FALSE(host.discoverer->status().error);
            CHECK(host.state() == ExpectedTargets(sim_.server, configs_[i]).state());
            CHECK(host.state() == discovered_anew(configs_[i]));
        }
    }

    void check_end() {
        hosts_.clear();
        sim_.settle();
        CHECK(sim_.server.open_connections() == 0);
        CHECK(sim_.clock->next_expiry() == TimePoint::max());
        for (const auto& kind : sim_.metrics->kinds) {
            CHECK(kind.objects == 0);
            CHECK(kind.watchers == 0);
            CHECK(kind.synced_watchers == 0);
        }
    }

 private:
    static sim::ApiServerOptions server_options(Random& random) {
        sim::ApiServerOptions options;
        options.bookmarks = !random.one_in(3);
        options.bookmark_interval = random.pick<Duration>({20s, 60s});
        if (random.one_in(3)) options.history = 5;
        return options;
    }
    static sim::TransportFaults transport(Random& random) {
        sim::TransportFaults faults;
        faults.max_read = random.pick<std::size_t>({sim::TransportFaults::never, 20, 300});
        return faults;
    }

    Selector random_selector(Role role) {
        Selector selector;
        selector.role = role;
        if (!random_.one_in(3)) {
            selector.label =
                random_.pick<std::string>({"app=x", "app in (x,y)", "!tier", "app!=x,tier"});
        }
        if (random_.one_in(3)) selector.field = "metadata.name!=" + random_.numbered("p", 3);
        if (role == Role::pod && random_.one_in(3)) selector.field = "spec.nodeName=n1";
        return selector;
    }
    DiscoveryConfig random_config() {
        DiscoveryConfig config;
        config.api_server.url = sim_.server.url();
        config.role = static_cast<Role>(random_.below(6));
        config.dialect =
            random_.pick<LabelDialect>({LabelDialect::prometheus, LabelDialect::victoriametrics});
        config.attach_metadata = {.node = random_.one_in(2),
                                  .namespace_ = random_.one_in(2),
                                  .deployment = random_.one_in(2),
                                  .job = random_.one_in(2),
                                  .cronjob = random_.one_in(2)};
        if (random_.one_in(3)) config.namespaces = {"a"};
        if (random_.one_in(6)) config.namespaces = {"b", "a"};
        if (random_.one_in(2)) config.selectors.push_back(random_selector(config.role));
        const bool behind_service =
            config.role == Role::endpoints || config.role == Role::endpointslice;
        if (behind_service && random_.one_in(3)) {
            config.selectors.push_back(
                random_selector(random_.pick<Role>({Role::pod, Role::service})));
        }
        config.watch.page_size = random_.below(4);
        if (random_.one_in(3)) config.min_update_interval = 2s;
        return config;
    }
    void add_host(const DiscoveryConfig& config) {
        configs_.push_back(config);
        hosts_.push_back(std::make_unique<Host>(sim_.context.get_executor(), config));
        hosts_.back()->run();
    }

    std::optional<Response> fault() {
        if (!random_.one_in(8)) return std::nullopt;
        Response response =
            Response::failure(random_.pick<unsigned>({400, 401, 403, 404, 410, 429, 500, 503, 504}),
                              "Reason", "text");
        switch (random_.below(6)) {
            case 0: return Response::disconnect();
            case 1: return Response::never();
            case 2: response.cut_after = random_.below(20); break;
            case 3: response.content_type = "text/html"; break;
            case 4: response.status = 200; break;
            default: break;
        }
        return response;
    }
    std::string random_kind() {
        return std::string(to_string(static_cast<Kind>(random_.below(kind_count))));
    }
    void step() {
        using After = sim::ApiServer::After;
        switch (random_.below(24)) {
            case 0: sim_.server.disconnect_all(); break;
            case 1: sim_.server.end_watches(); break;
            case 2: sim_.server.compact(); break;
            case 3: sim_.server.deny(random_kind()); break;
            case 4: sim_.server.allow(random_kind()); break;
            case 5: sim_.server.accept_connections(random_.one_in(2)); break;
            case 6:
                sim_.server.send_to_watches(
                    random_kind(),
                    random_.pick<std::string>({"garbage\n", R"({"type":"DELETED","obj)", "{}\n",
                                               R"({"type":"ERROR","object":{"code":410}})"}),
                    random_.pick<After>({After::go_on, After::end, After::drop}));
                break;
            case 7: replace_host(); break;
            default: cluster_.change();
        }
    }
    void replace_host() {
        const std::size_t i = random_.below(static_cast<unsigned>(hosts_.size()));
        if (random_.one_in(2)) configs_[i] = random_config();
        hosts_[i] = std::make_unique<Host>(sim_.context.get_executor(), configs_[i]);
        hosts_[i]->run();
    }

    /// What a discoverer finds that shares nothing with the others.
    TargetState discovered_anew(DiscoveryConfig config) {
        --config.watch.max_object_bytes;
        Host host(sim_.context.get_executor(), config);
        host.run();
        sim_.settle();
        CHECK(host.diffs == 1);
        return host.state();
    }

    Random random_;
    Simulation sim_;
    RandomCluster cluster_;
    std::vector<DiscoveryConfig> configs_;
    std::vector<std::unique_ptr<Host>> hosts_;
};

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

}  // namespace

// K8S_SD_CONVERGENCE_RUNS=20000 for a long run, K8S_SD_CONVERGENCE_SEED=n to begin elsewhere.
TEST_CASE("Convergence: once faults stop, diffs add up to the cluster's targets") {
    const std::uint64_t first = number_from("K8S_SD_CONVERGENCE_SEED", 1);
    const std::uint64_t runs = number_from("K8S_SD_CONVERGENCE_RUNS", 60);
    for (std::uint64_t seed = first; seed < first + runs; ++seed) {
        INFO("K8S_SD_CONVERGENCE_SEED=" << seed << " K8S_SD_CONVERGENCE_RUNS=1");
        Scenario scenario(seed);
        scenario.run();
        scenario.end_faults();
        scenario.check();
        scenario.check_end();
    }
}
