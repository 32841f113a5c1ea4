#pragma once

#include "client.hpp"
#include "collectors/target_allocator.hpp"
#include "list_model.hpp"
#include "poll_reader.hpp"
#include "property/random_cluster.hpp"
#include "random_jobs.hpp"
#include "support/objects.hpp"
#include "support/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd_program::test {

/// Collector pods that appear, disappear and are sometimes unready, and poll their part of the
/// steady job at least every 25 s. One pod stays.
class CollectorReaders {
 public:
    static constexpr const char* ns = "collectors";
    static std::vector<std::string> names() { return {"c0", "c1", "c2", "c3", "c4"}; }
    static std::string url(const std::string& job, const std::string& collector) {
        return "/jobs/" + job + "/targets?collector_id=" + collector;
    }

    CollectorReaders(k8s_sd::test::Random& random, k8s_sd::test::Simulation& sim,
                     const http::HttpRoutes& routes, const TargetAllocator& allocator,
                     std::function<void(const std::string&)> complain)
        : random_(random),
          sim_(sim),
          routes_(routes),
          allocator_(allocator),
          complain_(std::move(complain)) {
        for (const std::string& name : names()) readers_[name];
        begin("c0", "steady");
        for (unsigned i = random_.below(4); i > 0; --i) change();
    }
    CollectorReaders(const CollectorReaders&) = delete;
    CollectorReaders& operator=(const CollectorReaders&) = delete;

    /// Changes a random pod.
    void change() {
        const std::string name = "c" + std::to_string(1 + random_.below(4));
        if (!readers_[name].exists) {
            return begin(name, random_.pick<std::string>({"steady", "n0", "n1"}));
        }
        switch (random_.below(6)) {
            case 0: return end(name);
            case 1:
                return apply(name, [](auto& pod) {
                    pod["metadata"].as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
                });
            case 2:
                return apply(name,
                             [](auto& pod) { pod["status"].as_object()["phase"] = "Failed"; });
            case 3: return apply(name, [](auto&) {});
            default:
                return apply(name, [](auto& pod) {
                    auto& conditions = pod["status"].as_object()["conditions"].as_array();
                    conditions[0].as_object()["status"] = "False";
                });
        }
    }
    /// Polls for each pod whose time has come. Must be called at least once a second.
    void poll() {
        check_members();
        const auto now = sim_.clock->now();
        for (auto& [name, reader] : readers_) {
            if (!reader.exists || reader.waits || reader.next_poll > now) continue;
            reader.next_poll = now + std::chrono::seconds(5 + random_.below(20));
            reader.waits = true;
            ask(routes_, {.url = url("steady", name)},
                [this, &asked = name, life = reader.life](const Answered& answer) {
                    if (readers_[asked].life != life) return;
                    readers_[asked].waits = false;
                    on_answer(asked, answer);
                });
        }
    }
    /// No collector has polled for a while.
    void forget() {
        for (auto& [name, reader] : readers_) reader.held.reset();
    }
    /// Requests all parts at one time: one of them must have the steady target.
    void check() {
        if (!allocator_.view()) return;
        struct Counts {
            std::size_t asked = 0, lists = 0, owners = 0;
        };
        const auto counts = std::make_shared<Counts>();
        for (const std::string& name : names()) counts->asked += allocator_.knows(name) ? 1U : 0U;
        for (const std::string& name : names()) {
            if (!allocator_.knows(name)) continue;
            ask(routes_, {.url = url("steady", name)}, [this, counts](const Answered& answer) {
                if (answer.status != 200) return;
                ++counts->lists;
                if (has_steady(list_of(answer, complain_))) ++counts->owners;
                if (counts->lists < counts->asked) return;
                if (counts->owners == 0) complain_("no collector has the steady target");
                if (counts->owners > 1 && allocator_.options().handover.count() == 0) {
                    complain_("several collectors have the steady target");
                }
            });
        }
    }

 private:
    struct Reader {
        bool exists = false;
        unsigned life = 0;  ///< the number of its restarts
        bool waits = false;
        std::string node{};
        k8s_sd::TimePoint next_poll{};
        std::optional<ListModel> held{};
    };

    static bool has_steady(const ListModel& list) { return list.has(RandomJobs::steady_address); }

    template <class Change>
    void apply(const std::string& name, Change change) {
        auto pod = k8s_sd::test::pod({.name = name,
                                      .ns = ns,
                                      .node = readers_[name].node,
                                      .labels = {{"app", "collector"}}});
        change(pod);
        sim_.server.apply(std::move(pod));
    }
    void begin(const std::string& name, const std::string& node) {
        Reader& reader = readers_[name];
        reader.exists = true;
        ++reader.life;
        reader.waits = false;
        reader.node = node;
        reader.next_poll = sim_.clock->now();
        reader.held.reset();
        apply(name, [](auto&) {});
    }
    void end(const std::string& name) {
        readers_[name].exists = false;
        readers_[name].held.reset();
        gone_member_ = sim_.clock->now();
        sim_.server.remove("pods", ns, name);
    }

    void on_answer(const std::string& name, const Answered& answer) {
        if (answer.status == 503) return;
        if (answer.status != 200) {
            return complain_("collector " + name + ": status " + std::to_string(answer.status));
        }
        Reader& reader = readers_[name];
        if (!first_list_) first_list_ = sim_.clock->now();
        const bool had = reader.held && has_steady(*reader.held);
        reader.held = list_of(answer, complain_);
        if (had && !has_steady(*reader.held)) check_handover(name);
    }
    /// The collector has dropped the steady target: another one must have it by now.
    void check_handover(const std::string& name) {
        const auto handover = allocator_.options().handover;
        if (handover.count() == 0) return;
        const bool held = std::any_of(readers_.begin(), readers_.end(), [](const auto& reader) {
            return reader.second.held && has_steady(*reader.second.held);
        });
        // A deleted owner that still counts as one does not poll.
        const auto begin = sim_.clock->now() - handover - std::chrono::seconds(5);
        if (held || gone_member_ > begin) return;
        // Every collector has polled since the list exists.
        if (sim_.clock->now() - *first_list_ < std::chrono::seconds(25)) return;
        // Further changes end the oldest handover.
        constexpr std::size_t max_changes = 4;
        std::erase_if(changes_, [&](auto when) { return when < begin; });
        if (changes_.size() > max_changes) return;
        complain_("collector " + name + " has dropped the steady target, and no other one has it");
    }
    void check_members() {
        const AllocationViewPtr& view = allocator_.view();
        if (!view) return;
        for (const Collector& member : view->present().members()) {
            if (!readers_[member.name].exists) gone_member_ = sim_.clock->now();
        }
        if (view->present().members() == members_) return;
        members_ = view->present().members();
        changes_.push_back(sim_.clock->now());
    }

    k8s_sd::test::Random& random_;
    k8s_sd::test::Simulation& sim_;
    const http::HttpRoutes& routes_;
    const TargetAllocator& allocator_;
    const std::function<void(const std::string&)> complain_;
    std::map<std::string, Reader> readers_;
    std::vector<Collector> members_;
    std::deque<k8s_sd::TimePoint> changes_;
    k8s_sd::TimePoint gone_member_{};
    std::optional<k8s_sd::TimePoint> first_list_;
};

}  // namespace k8s_sd_program::test
