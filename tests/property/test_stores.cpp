#include "k8s_sd/objects/store.hpp"
#include "k8s_sd/objects/store_writer.hpp"
#include "property/for_each_seed.hpp"
#include "support/stored_object.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

/// Reference implementation: the expected content of the store.
using StoreModel = std::map<std::pair<std::string, std::string>, StoredPtr>;

/// A writer with random operations, and their effects.
class StoreHistory {
 public:
    explicit StoreHistory(std::uint64_t seed)
        : random_(seed), objects_(pick(3) == 0 ? 500 : 20), keys_(1 + pick(30)) {}

    void run() {
        for (int step = 0; step < 150; ++step) {
            write_batch();
            check(store_.snapshot(), model_);
            if (pick(10) == 0) kept_.emplace_back(store_.snapshot(), model_);
            if (kept_.size() > 5) kept_.pop_front();
        }
        for (const auto& [snapshot, model] : kept_) check(snapshot, model);
    }

 private:
    std::size_t pick(std::size_t count) { return random_() % count; }
    std::string text(const char* prefix, std::size_t count) {
        return prefix + std::to_string(pick(count));
    }

    void write_batch() {
        auto batch = writer_.begin();
        StoreModel model = model_;
        if (pick(30) == 0) {
            batch.clear();
            model.clear();
        }
        for (std::size_t i = pick(pick(10) == 0 ? 300 : 5); i > 0; --i) {
            const std::pair name(text("ns", 3), text("o", objects_));
            StoredPtr& known = model[name];
            const StoredPtr after = pick(3) == 0 ? nullptr : make(name);
            batch.apply(known, after);
            known = after;
            if (!after) model.erase(name);
        }
        if (pick(10) == 0) return;  // discards the batch
        batch.publish();
        model_ = std::move(model);
    }
    StoredPtr make(const std::pair<std::string, std::string>& name) {
        std::vector<std::string> keys;
        for (std::size_t i = pick(4); i > 0; --i) keys.push_back(text("k", keys_));
        return stored(name.first, name.second, keys, ++version_);
    }

    void check(const Snapshot<StoredObject>& snapshot, const StoreModel& model) const {
        REQUIRE(snapshot.size() == model.size());
        std::set<StoredPtr> expected, seen;
        std::map<std::string, std::set<StoredPtr>> by_key;
        for (const auto& [name, object] : model) {
            REQUIRE(snapshot.find(name.first, name.second) == object);
            expected.insert(object);
            for (const std::string& key : object->keys) by_key[key].insert(object);
        }
        snapshot.for_each([&](const StoredPtr& object) { seen.insert(object); });
        REQUIRE(seen == expected);
        for (std::size_t i = 0; i < keys_; ++i) {
            const std::string key = "k" + std::to_string(i);
            const std::vector<StoredPtr> found = index_.all(snapshot, key);
            REQUIRE(std::set(found.begin(), found.end()) == by_key[key]);
            REQUIRE(found.size() == by_key[key].size());
        }
    }

    std::mt19937_64 random_;
    const std::size_t objects_, keys_;
    Store<StoredObject> store_;
    Index<StoredObject> index_ = store_.index(all_keys);
    StoreWriter<StoredObject> writer_{store_};
    StoreModel model_;
    int version_ = 0;
    std::deque<std::pair<Snapshot<StoredObject>, StoreModel>> kept_;
};

}  // namespace

TEST_CASE("Store: after random histories it equals a map in every generation, indexes too") {
    for_each_seed("STORES", 20, [&](std::uint64_t seed) { StoreHistory(seed).run(); });
}
