#include "integration/cache/object_cache_fixture.hpp"
#include "k8s_sd/detail/text/base64.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "property/random_faults.hpp"

#include <map>
#include <string>

namespace object_cache_tests {

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

constexpr unsigned names = 8;

ObjectCacheConfig random_cache(Random& random) {
    ObjectCacheConfig config;
    config.max_idle = random.pick<Duration>({1min, 5min});
    config.collection_threshold = random.pick<std::size_t>({0, 1, 3});
    return config;
}

/// Changing Secrets, changing references, and all faults. Each notification to subscribers and each
/// result of a get must be a state that the server had.
class Scenario {
 public:
    explicit Scenario(std::uint64_t seed)
        : random_(seed),
          cluster_(random_cache(random_), random_server(random_), random_transport(random_)),
          faults_(random_, cluster_) {}

    void run() {
        faults_.begin();
        for (int i = 0; i < 150; ++i) {
            step();
            if (random_.one_in(2)) cluster_.settle();
            if (random_.one_in(4)) cluster_.advance(std::chrono::seconds(random_.below(90)));
        }
        faults_.end();
        cluster_.advance(61min);  // the longest life of an unanswered watch
    }

    void check() {
        for (const auto& [name, following] : following_) {
            INFO(name);
            REQUIRE_FALSE(following.received.empty());
            CHECK(following.received.back() == present(name));
        }
        for (unsigned i = 0; i < names; ++i) {
            const std::string name = "s" + std::to_string(i);
            const bool referred = references_.contains(name) || following_.contains(name);
            const GetOutcome outcome = cluster_.get(name);
            cluster_.advance(1s);
            INFO(name);
            if (!referred) {
                CHECK(*outcome == "not referenced");
            } else {
                CHECK(*outcome == (present(name) == "none" ? "not found" : present(name)));
            }
        }
    }
    void check_end() {
        references_.clear();
        following_.clear();
        cluster_.settle();
        CHECK(cluster_.server.open_connections() == 0);
        CHECK(cluster_.clock->next_expiry() == TimePoint::max());
        CHECK(cluster_.cache->status().namespaces.empty());
        CHECK(cluster_.metrics->cache_watches == 0);
        CHECK(cluster_.metrics->cache_references == 0);
        CHECK(cluster_.metrics->of(Kind::secret).objects == 0);
        CHECK(cluster_.metrics->of(Kind::secret).watchers == 0);
    }

 private:
    struct Following {
        std::vector<std::string> received;
        ObjectCache::Subscription subscription;
    };

    void step() {
        const std::string name = random_.numbered("s", names);
        switch (random_.below(10)) {
            case 0: return faults_.disturb();
            case 1: return set_permission();
            case 2: references_.insert_or_assign(name, cluster_.refer(name)); return;
            case 3: references_.erase(name); return;
            case 4: return follow(name);
            case 5: following_.erase(name); return;
            case 6: return get(name);
            case 7: cluster_.server.remove("secrets", "shop", name); return;
            default:
                cluster_.server.apply(secret(name, {{"token", name + std::to_string(++version_)}}));
        }
    }
    void set_permission() {
        random_.one_in(2) ? cluster_.server.deny("secrets") : cluster_.server.allow("secrets");
    }
    void follow(const std::string& name) {
        if (following_.contains(name)) return;
        Following& following = following_[name];
        following.subscription =
            cluster_.cache->subscribe("shop", name, [&following, name](const ObjectPtr& object) {
                const std::string text = describe_data(object);
                CHECK((text == "none" || text.starts_with("token=" + name)));
                CHECK((following.received.empty() || following.received.back() != text));
                following.received.push_back(text);
            });
    }
    void get(const std::string& name) {
        cluster_.cache->async_get("shop", name, [name](error_code ec, const ObjectPtr& object) {
            const std::string text = describe_get(ec, object);
            CHECK((ec || text.starts_with("token=" + name)));
        });
    }
    std::string present(const std::string& name) const {
        const auto object = cluster_.server.get("secrets", "shop", name);
        if (!object) return "none";
        const auto& data = object->at("data").as_object();
        return "token=" + detail::decode_base64(data.at("token").as_string()).value();
    }

    Random random_;
    CachedCluster cluster_;
    RandomFaults faults_;
    std::map<std::string, ObjectCache::Reference> references_;
    std::map<std::string, Following> following_;
    unsigned version_ = 0;
};

}  // namespace

TEST_CASE("ObjectCache: once faults stop, it has and delivers the state of the server") {
    for_each_seed("CACHE", 60, [&](std::uint64_t seed) {
        Scenario scenario(seed);
        scenario.run();
        scenario.check();
        scenario.check_end();
    });
}

}  // namespace object_cache_tests
