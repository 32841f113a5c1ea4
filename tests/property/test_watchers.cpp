#include "k8s_sd/detail/kinds/all.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/objects/watcher.hpp"
#include "property/expected_targets.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "property/random_config.hpp"
#include "property/random_faults.hpp"
#include "support/host.hpp"
#include "support/simulation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A watcher of any kind that fills a store.
class AnyWatcher {
 public:
    virtual ~AnyWatcher() = default;
    virtual DiscovererStatus status() const = 0;
    /// The difference from another one of the same kind; empty: none.
    virtual std::string difference(const AnyWatcher& other) const = 0;
    std::string complaints;
};

template <class T>
class StoredWatcher final : public AnyWatcher {
 public:
    StoredWatcher(Simulation& sim, const WatcherConfig& config)
        : mask_(detail::mask_of(api::kind_of<T>, config.fields)),
          watcher_(sim.context.get_executor(), config, store_,
                   [this](const ObjectDiff<T>& diff) { apply(diff); }) {
        watcher_.async_run([](error_code) {});
    }
    DiscovererStatus status() const override { return watcher_.status(); }
    std::string difference(const AnyWatcher& other) const override {
        const auto& o = static_cast<const StoredWatcher&>(other);
        if (state_.size() != o.state_.size())
            return std::to_string(state_.size()) + " and " + std::to_string(o.state_.size());
        if (store_.size() != state_.size()) return "the store has another size";
        for (const auto& [name, object] : state_) {
            const auto there = o.state_.find(name);
            if (there == o.state_.end()) return name + " is missing";
            if (store_.find(object->metadata.namespace_, object->metadata.name) != object)
                return name + " is another one in the store";
            if (!same(*object, *there->second)) return name + " differs";
        }
        return {};
    }

 private:
    bool same(const T& a, const T& b) const {
        return a.metadata.uid == b.metadata.uid &&
               detail::MaskedComparison::equal(a, b, detail::KindTraits<api::kind_of<T>>::rows,
                                               mask_);
    }
    static std::string name_of(const T& object) {
        return std::string(object.metadata.namespace_) + "/" + std::string(object.metadata.name);
    }
    /// Each diff must be consistent with its predecessor.
    void apply(const ObjectDiff<T>& diff) {
        if (diff.full == known_) complaints += "full at the wrong time; ";
        known_ = true;
        for (const auto& object : diff.removed) {
            const auto it = state_.find(name_of(*object));
            if (it == state_.end()) complaints += name_of(*object) + " was not there; ";
            if (it != state_.end()) state_.erase(it);
        }
        for (const auto& object : diff.added) {
            if (!state_.emplace(name_of(*object), object).second)
                complaints += name_of(*object) + " was there; ";
        }
        for (const auto& [before, after] : diff.changed) {
            const auto it = state_.find(name_of(*after));
            if (it == state_.end() || !same(*it->second, *before))
                complaints += name_of(*after) + " was not as it was delivered; ";
            if (same(*before, *after)) complaints += name_of(*after) + " is the same; ";
            state_[name_of(*after)] = after;
        }
    }

    const detail::FieldMask mask_;
    bool known_ = false;
    std::map<std::string, std::shared_ptr<const T>> state_;
    Store<T> store_;
    Watcher<T> watcher_;
};

std::unique_ptr<AnyWatcher> make_watcher(Simulation& sim, unsigned kind,
                                         const WatcherConfig& config) {
    switch (kind) {
        case 0: return std::make_unique<StoredWatcher<api::Pod>>(sim, config);
        case 1: return std::make_unique<StoredWatcher<api::Node>>(sim, config);
        case 2: return std::make_unique<StoredWatcher<api::Service>>(sim, config);
        default: return std::make_unique<StoredWatcher<api::EndpointSlice>>(sim, config);
    }
}

/// Random watchers and discoverers of a random cluster, with random faults between them.
class WatcherScenario {
 public:
    explicit WatcherScenario(std::uint64_t seed)
        : random_(seed),
          sim_(random_server(random_), random_transport(random_)),
          cluster_(random_, sim_.server),
          faults_(random_, sim_) {
        for (unsigned i = random_.below(60); i > 0; --i) cluster_.change();
        watch_ = random_config(random_, sim_.server.url()).watch;
        for (unsigned i = 0; i < 5; ++i) replace_watcher(watched_.emplace_back());
        for (unsigned i = 0; i < 3; ++i) hosts_.emplace_back();
        for (auto& host : hosts_) replace_host(host);
    }

    void run() {
        faults_.begin();
        for (unsigned i = 100; i > 0; --i) {
            step();
            for (unsigned n = random_.below(40); n > 0; --n) sim_.context.poll_one();
            if (random_.one_in(3)) sim_.advance(std::chrono::milliseconds(random_.below(4000)));
        }
        faults_.end();
    }

    void check() {
        for (Watched& watched : watched_) {
            CAPTURE(watched.kind, watched.config.label_selector, watched.config.namespaces.size());
            CHECK(watched.watcher->complaints == "");
            CHECK(watched.watcher->status().synced);
            WatcherConfig anew = watched.config;
            --anew.watch.max_object_bytes;  // shares nothing
            anew.watch.watch_list = false;
            const auto other = make_watcher(sim_, watched.kind, anew);
            sim_.settle();
            CHECK(watched.watcher->difference(*other) == "");
        }
        for (const auto& [config, host] : hosts_) {
            CHECK(host->complaints == "");
            CHECK(host->state() == ExpectedTargets(sim_.server, config).state());
        }
    }

    void check_end() {
        watched_.clear();
        hosts_.clear();
        sim_.settle();
        CHECK(sim_.server.open_connections() == 0);
        CHECK(sim_.clock->next_expiry() == TimePoint::max());
    }

 private:
    struct Watched {
        unsigned kind = 0;
        WatcherConfig config;
        std::unique_ptr<AnyWatcher> watcher;
    };
    struct Discovering {
        DiscoveryConfig config;
        std::unique_ptr<Host> host;
    };

    void step() {
        const unsigned what = random_.below(24);
        if (what < 7) return faults_.disturb();
        if (what == 7)
            return replace_watcher(watched_[random_.below(static_cast<unsigned>(watched_.size()))]);
        if (what == 8)
            return replace_host(hosts_[random_.below(static_cast<unsigned>(hosts_.size()))]);
        cluster_.change();
    }

    void replace_watcher(Watched& watched) {
        watched.watcher.reset();
        watched.kind = random_.below(4);
        watched.config = {};
        watched.config.api_server.url = sim_.server.url();
        watched.config.watch = watch_;
        const DiscoveryConfig other = random_config(random_, sim_.server.url());
        if (watched.kind != 1) watched.config.namespaces = other.namespaces;
        if (random_.one_in(3)) watched.config.label_selector = "app";
        watched.config.fields =
            random_.pick<Fields>({Fields::all(), Fields{"metadata"}, Fields{"metadata.labels"},
                                  Fields{"metadata.annotations", "metadata.ownerReferences"}});
        if (watched.kind == 0 && random_.one_in(2))
            watched.config.fields = {"spec.nodeName", "status.containerStatuses.name"};
        watched.watcher = make_watcher(sim_, watched.kind, watched.config);
    }
    void replace_host(Discovering& discovering) {
        discovering.host.reset();
        discovering.config = random_config(random_, sim_.server.url());
        discovering.config.watch = watch_;
        discovering.host = std::make_unique<Host>(sim_.context.get_executor(), discovering.config);
        discovering.host->run();
    }

    Random random_;
    Simulation sim_;
    RandomCluster cluster_;
    RandomFaults faults_;
    WatchOptions watch_;
    std::vector<Watched> watched_;
    std::vector<Discovering> hosts_;
};

}  // namespace

TEST_CASE("Watchers: once faults stop, they and their stores have what the cluster has") {
    for_each_seed("WATCHERS", 40, [&](std::uint64_t seed) {
        WatcherScenario scenario(seed);
        scenario.run();
        scenario.check();
        scenario.check_end();
    });
}
