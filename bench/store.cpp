// Store look-ups from one and two threads, with and without concurrent changes, beside a map behind
// a lock; the cost of a change, and the memory of an object.

#include "k8s_sd/objects/store.hpp"

#include "k8s_sd/objects/store_writer.hpp"
#include "measure.hpp"

#include <malloc.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

/// As large as a pod of few fields, and laid out like one: views into one text with all strings.
struct Pod {
    struct Metadata {
        std::string_view namespace_, name;
    };
    Pod(const std::string& ns, const std::string& name, const std::string& container)
        : text(ns + name + container) {
        std::string_view left(text);
        for (auto [view, size] :
             {std::pair(&metadata.namespace_, ns.size()), std::pair(&metadata.name, name.size()),
              std::pair(&container_id, container.size())}) {
            *view = left.substr(0, size);
            left.remove_prefix(size);
        }
    }
    Pod(const Pod&) = delete;
    Pod& operator=(const Pod&) = delete;

    Metadata metadata;
    std::string_view container_id;
    std::string text;
    std::uint64_t other_fields[100] = {};
};
using PodPtr = std::shared_ptr<const Pod>;

PodPtr make_pod(std::size_t i) {
    const std::string number = std::to_string(100'000 + i);
    return std::make_shared<Pod>("team-" + std::to_string(i % 50), "web-7d4b9c6f5-" + number,
                                 "containerd://5f2c8e1a9b7d4c3e6f0a1b2c3d4e5f60718293a4b5c6d7e8f9" +
                                     number);
}

std::vector<PodPtr> make_pods(std::size_t count) {
    std::vector<PodPtr> pods;
    for (std::size_t i = 0; i < count; ++i) pods.push_back(make_pod(i));
    return pods;
}

/// The usual code of hosts: a map and a lock. Here, too, the keys are views into the pods.
class LockedMap {
 public:
    explicit LockedMap(const std::vector<PodPtr>& pods) {
        for (const PodPtr& pod : pods) put(pod);
    }
    PodPtr find(std::string_view ns, std::string_view name) const {
        const std::shared_lock lock(mutex_);
        const auto it = pods_.find({ns, name});
        return it == pods_.end() ? nullptr : it->second;
    }
    void put(const PodPtr& pod) {
        const std::unique_lock lock(mutex_);
        const Key key(pod->metadata.namespace_, pod->metadata.name);
        pods_.erase(key);
        pods_.emplace(key, pod);
    }

 private:
    using Key = std::pair<std::string_view, std::string_view>;
    struct Hash {
        std::size_t operator()(const Key& key) const noexcept {
            const std::hash<std::string_view> hash;
            return hash(key.first) * 31 + hash(key.second);
        }
    };
    mutable std::shared_mutex mutex_;
    std::unordered_map<Key, PodPtr, Hash> pods_;
};

/// The library's Store, with the same interface.
class FilledStore {
 public:
    explicit FilledStore(const std::vector<PodPtr>& pods) {
        auto batch = writer_.begin();
        for (const PodPtr& pod : pods) batch.put(pod);
        batch.publish();
    }
    PodPtr find(std::string_view ns, std::string_view name) const { return store_.find(ns, name); }
    void put(const PodPtr& pod) {
        auto batch = writer_.begin();
        batch.put(pod);
        batch.publish();
    }
    const k8s_sd::Store<Pod>& store() const { return store_; }

 private:
    k8s_sd::Store<Pod> store_;
    k8s_sd::StoreWriter<Pod> writer_{store_};
};

/// The readers' look-ups: pods in random order, whose names are contiguous in memory, as if they
/// had just been read.
struct Question {
    std::string ns, name, container_id;
};
std::vector<Question> make_questions(std::vector<PodPtr> pods) {
    std::shuffle(pods.begin(), pods.end(), std::mt19937(1));
    std::vector<Question> questions;
    questions.reserve(pods.size());
    for (const PodPtr& pod : pods) {
        questions.push_back({std::string(pod->metadata.namespace_), std::string(pod->metadata.name),
                             std::string(pod->container_id)});
    }
    return questions;
}

struct Load {
    std::size_t readers;
    std::size_t changes_a_second;
};

constexpr std::chrono::milliseconds round_time(300);

/// Millions of look-ups a second, total of all readers.
template <class LookUp, class Change>
double millions_a_second(const std::vector<Question>& questions, const Load& load,
                         const LookUp& look_up, const Change& change) {
    std::atomic<bool> stop = false;
    std::atomic<std::size_t> total = 0;
    const auto read = [&](std::size_t first) {
        std::size_t found = 0;
        for (std::size_t i = first; !stop; i += 256) {
            for (std::size_t k = 0; k < 256; ++k) {
                if (look_up(questions[(i + k) % questions.size()])) ++found;
            }
        }
        total += found;
    };
    const auto start = Clock::now();
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < load.readers; ++i) threads.emplace_back(read, i * 7919);
    for (std::size_t i = 0; Clock::now() < start + round_time; ++i) {
        if (load.changes_a_second == 0) {
            std::this_thread::sleep_for(round_time);
        } else {
            change(i);
            std::this_thread::sleep_until(
                start + (i + 1) * std::chrono::nanoseconds(1'000'000'000) / load.changes_a_second);
        }
    }
    stop = true;
    threads.clear();
    const std::chrono::duration<double> seconds = Clock::now() - start;
    return static_cast<double>(total) / seconds.count() / 1e6;
}

/// The best of several rounds; the candidates alternate.
template <class Measure>
std::vector<double> best_of(std::size_t candidates, const Measure& measure) {
    std::vector<double> best(candidates);
    for (int round = 0; round < 5; ++round) {
        for (std::size_t i = 0; i < candidates; ++i) best[i] = std::max(best[i], measure(i));
    }
    return best;
}

void print_look_ups(const std::vector<PodPtr>& pods) {
    const std::vector<Question> questions = make_questions(pods);
    LockedMap map(pods);
    FilledStore filled(pods);
    k8s_sd::Store<Pod> store = filled.store();
    const auto by_container = store.index([](const Pod& pod) { return pod.container_id; });
    const auto change_map = [&](std::size_t i) { map.put(make_pod(i * 7 % pods.size())); };
    const auto change_store = [&](std::size_t i) { filled.put(make_pod(i * 7 % pods.size())); };
    const k8s_sd::Snapshot<Pod> snapshot = store.snapshot();
    const auto nothing = [](const Pod&) {};

    std::printf("%zu pods; millions of look-ups a second, and times those of the locked map\n",
                pods.size());
    std::printf("%-27s %8s %15s %15s %15s %15s\n", "readers, changes a second", "map", "find",
                "visit", "index visit", "snapshot find");
    for (const Load& load : {Load{1, 0}, Load{2, 0}, Load{1, 1000}, Load{2, 1000}}) {
        const auto best = best_of(5, [&](std::size_t candidate) {
            const auto measure = [&](const auto& look_up, const auto& change) {
                return millions_a_second(questions, load, look_up, change);
            };
            switch (candidate) {
                case 0:
                    return measure([&](const Question& q) { return map.find(q.ns, q.name); },
                                   change_map);
                case 1:
                    return measure([&](const Question& q) { return store.find(q.ns, q.name); },
                                   change_store);
                case 2:
                    return measure(
                        [&](const Question& q) {
                            return store.visit({q.ns, q.name}, nothing);
                        },
                        change_store);
                case 3:
                    return measure(
                        [&](const Question& q) {
                            return by_container.visit(q.container_id, nothing);
                        },
                        change_store);
                default:
                    return measure(
                        [&](const Question& q) { return snapshot.find(q.ns, q.name) != nullptr; },
                        change_store);
            }
        });
        std::printf("%zu, %-24zu %8.1f", load.readers, load.changes_a_second, best[0]);
        for (std::size_t i = 1; i < best.size(); ++i) {
            std::printf(" %8.1f %6.2f", best[i], best[i] / best[0]);
        }
        std::puts("");
    }
}

double heap_bytes() {
    const struct mallinfo2 info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

struct Costs {
    double table, index;    ///< bytes per object
    double fill, clear;     ///< µs per object
    double change, batch;   ///< µs per change: alone, and among 1000
    double indexed_change;  ///< µs, alone, with an index
    double map_table, map_change;
};

/// Microseconds of each of `times` calls.
template <class Function>
double micros(std::size_t times, const Function& function) {
    const double start = bench::thread_cpu_seconds();
    for (std::size_t i = 0; i < times; ++i) function(i);
    return (bench::thread_cpu_seconds() - start) / static_cast<double>(times) * 1e6;
}

Costs measure_costs(std::size_t count) {
    const std::vector<PodPtr> pods = make_pods(count), others = make_pods(count);
    const auto objects = static_cast<double>(count);
    const std::size_t changes = std::min<std::size_t>(count, 20'000);
    const auto other = [&](std::size_t i) { return others[i * 7919 % count]; };
    Costs costs{};

    double before = heap_bytes();
    auto map = std::make_unique<LockedMap>(pods);
    costs.map_table = (heap_bytes() - before) / objects;
    costs.map_change = micros(changes, [&](std::size_t i) { map->put(other(i)); });
    map = nullptr;

    before = heap_bytes();
    std::unique_ptr<FilledStore> filled;
    costs.fill = micros(1, [&](std::size_t) { filled = std::make_unique<FilledStore>(pods); });
    costs.fill /= objects;
    costs.table = (heap_bytes() - before) / objects;
    costs.change = micros(changes, [&](std::size_t i) { filled->put(other(i)); });
    k8s_sd::Store<Pod> store = filled->store();
    costs.batch = micros(changes / 1000, [&](std::size_t n) {
        auto batch = k8s_sd::StoreWriter<Pod>(store).begin();
        for (std::size_t i = 0; i < 1000; ++i) batch.put(pods[(n * 1000 + i) * 7919 % count]);
        batch.publish();
    });
    costs.batch /= 1000;
    before = heap_bytes();
    store.index([](const Pod& pod) { return pod.container_id; });
    costs.index = (heap_bytes() - before) / objects;
    costs.indexed_change = micros(changes, [&](std::size_t i) { filled->put(other(i)); });
    costs.clear = micros(1, [&](std::size_t) {
        auto batch = k8s_sd::StoreWriter<Pod>(store).begin();
        batch.clear();
        batch.publish();
    });
    costs.clear /= objects;
    return costs;
}

void print_costs(std::size_t count) {
    const Costs costs = bench::in_process([count] { return measure_costs(count); });
    std::printf("bytes an object: %.1f, an index of one key %.1f, the map %.1f\n", costs.table,
                costs.index, costs.map_table);
    std::printf("µs a change: alone %.2f, with an index %.2f, among 1000 %.2f, the map %.2f\n",
                costs.change, costs.indexed_change, costs.batch, costs.map_change);
    std::printf("µs an object: filling %.2f, clearing %.2f\n", costs.fill, costs.clear);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_store [PODS=50000]");
        return 0;
    }
    const std::size_t count = std::max<std::size_t>(bench::argument(argc, argv, 1, 50'000), 1000);
    print_costs(count);
    print_look_ups(make_pods(count));
    return 0;
}
