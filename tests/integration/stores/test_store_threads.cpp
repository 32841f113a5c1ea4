#include "k8s_sd/objects/store.hpp"
#include "k8s_sd/objects/store_writer.hpp"
#include "support/stored_object.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <latch>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;

namespace {

constexpr int pairs = 60;

/// Each batch moves pairs of objects, and the key of their version, to the next version: in any
/// generation, either both objects of a pair exist, with the same version, or neither does, and the
/// version's key finds exactly these two.
class PairWriter {
 public:
    explicit PairWriter(const Store<StoredObject>& store) : writer_(store) {}

    void write_batch() {
        auto batch = writer_.begin();
        const int changes = 1 + static_cast<int>(random_() % 5);
        for (int i = 0; i < changes; ++i) {
            const std::string pair = std::to_string(random_() % pairs);
            ++version_;
            for (const char* half : {"left", "right"}) {
                if (version_ % 7 == 0) {
                    batch.remove({pair, half});
                } else {
                    batch.put(
                        stored(pair, half, {pair + "/" + std::to_string(version_)}, version_));
                }
            }
        }
        if (version_ % 1000 < 5) batch.clear();
        batch.publish();
        if (version_ % 16 == 0) writer_.contact(TimePoint(Duration(version_)));
    }

 private:
    StoreWriter<StoredObject> writer_;
    std::mt19937 random_{1};
    int version_ = 0;
};

/// The number of contradictions within a snapshot.
int contradictions(const Snapshot<StoredObject>& snapshot, const Index<StoredObject>& index,
                   const std::string& pair) {
    const StoredPtr& left = snapshot.find(pair, "left");
    const StoredPtr& right = snapshot.find(pair, "right");
    if (!left && !right) return 0;
    if (!left || !right || left->version != right->version) return 1;
    const auto both = index.all(snapshot, left->keys.front());
    return both.size() == 2 && both[0] != both[1] ? 0 : 1;
}

/// One iteration of a reader; returns the number of contradictions.
int read_once(const Store<StoredObject>& store, const Index<StoredObject>& index,
              const std::string& pair) {
    const auto snapshot = store.snapshot();
    int wrong = contradictions(snapshot, index, pair);
    std::size_t seen = 0;
    snapshot.for_each([&](const StoredPtr& object) { seen += object->keys.size(); });
    if (seen != snapshot.size()) ++wrong;
    for (int i = 0; i < 10; ++i) {
        StoredPtr object = store.find(pair, "left");
        if (object && object->metadata.namespace_ != pair) ++wrong;
        if (object) object = index.find(object->keys.front());
        if (object && object->metadata.namespace_ != pair) ++wrong;
        store.visit({pair, "right"}, [&](const StoredObject& visited) {
            if (visited.metadata.namespace_ != pair) ++wrong;
            // A reader may read while it reads.
            if (store.snapshot().generation() < snapshot.generation()) ++wrong;
        });
    }
    if (store.generation() < snapshot.generation()) ++wrong;
    return wrong;
}

}  // namespace

TEST_CASE("Store: threads see whole generations, whatever is written meanwhile") {
    std::weak_ptr<const StoredObject> last;
    {
        Store<StoredObject> store;
        const auto index = store.index(all_keys);
        std::atomic<bool> stop = false;
        std::atomic<int> wrong = 0;
        std::latch started(4);
        const auto read = [&](unsigned seed) {
            std::mt19937 random(seed);
            const Store<StoredObject> mine = store;
            started.count_down();
            while (!stop) wrong += read_once(mine, index, std::to_string(random() % pairs));
        };
        std::vector<std::jthread> readers;
        for (unsigned i = 0; i < 3; ++i) readers.emplace_back(read, i);
        started.arrive_and_wait();

        PairWriter writer(store);
        for (int i = 0; i < 5000; ++i) writer.write_batch();
        stop = true;
        readers.clear();
        CHECK(wrong == 0);
        store.for_each([&](const StoredPtr& object) { last = object; });
    }
    CHECK(last.expired());
}

TEST_CASE("Store: snapshots may be dropped by other threads, while what they share is changed") {
    const Store<StoredObject> store;
    PairWriter writer(store);
    writer.write_batch();
    std::atomic<bool> stop = false;
    std::atomic<std::size_t> sum = 0;
    const auto keep_and_drop = [&] {
        std::vector<Snapshot<StoredObject>> kept;
        while (!stop) {
            kept.push_back(store.snapshot());
            kept.front().for_each([&](const StoredPtr& object) { sum += object->keys.size(); });
            if (kept.size() > 20) kept.clear();
        }
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(keep_and_drop);
    for (int i = 0; i < 3000; ++i) writer.write_batch();
    stop = true;
    threads.clear();
    CHECK(store.generation() > 2500);
}

TEST_CASE("Store: several writers, and indexes that are declared meanwhile, take turns") {
    Store<StoredObject> store;
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 3; ++thread) {
        threads.emplace_back([&store, thread] {
            StoreWriter<StoredObject> writer(store);
            for (int i = 0; i < 300; ++i) {
                auto batch = writer.begin();
                batch.put(stored(std::to_string(thread), std::to_string(i), {"all"}));
                batch.publish();
            }
        });
    }
    std::vector<Index<StoredObject>> indexes;
    for (int i = 0; i < 10; ++i) indexes.push_back(store.index(all_keys));
    threads.clear();
    CHECK(store.size() == 900);
    for (const auto& index : indexes) CHECK(index.all("all").size() == 900);
}

TEST_CASE("Store: any thread may wait, and be cancelled, while the first state comes") {
    for (int round = 0; round < 100; ++round) {
        const Store<StoredObject> store;
        std::atomic<int> received = 0;
        const auto wait = [&](asio::io_context& io) {
            asio::cancellation_signal signal;
            // Bound, because the default executor uses fences, which ThreadSanitizer does not
            // support.
            const auto note = [&] {
                return asio::bind_executor(io.get_executor(), [&](error_code) { ++received; });
            };
            store.async_wait_synced(io.get_executor(), note());
            store.async_wait_synced(io.get_executor(),
                                    asio::bind_cancellation_slot(signal.slot(), note()));
            signal.emit(asio::cancellation_type::terminal);
            io.run();
        };
        std::array<asio::io_context, 3> contexts;
        std::vector<std::jthread> threads;
        for (asio::io_context& io : contexts) threads.emplace_back(wait, std::ref(io));
        StoreWriter<StoredObject> writer(store);
        auto batch = writer.begin();
        batch.publish();
        threads.clear();
        REQUIRE(received == 6);
    }
}
