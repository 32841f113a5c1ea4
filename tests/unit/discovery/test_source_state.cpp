#include "k8s_sd/detail/discovery/sources/source_state.hpp"
#include "support/allocations.hpp"
#include "support/full_executor.hpp"
#include "support/groups.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace k8s_sd::detail {
namespace {

/// Records the groups of its source.
struct RecordingObserver final : GroupWatcher::Observer {
    void on_ready(const std::shared_ptr<const TargetGroupDiff>& state) override {
        for (const GroupChange& change : state->updated) note(change);
    }
    void on_changes(const std::vector<GroupChange>& changes) override {
        for (const GroupChange& change : changes) note(change);
    }
    void note(const GroupChange& change) {
        if (std::exchange(fails, false)) throw std::bad_alloc();
        const TargetGroup& group = change.group ? *change.group : *change.previous;
        received += (change.group ? '+' : '-') + std::string(group.source()) + ' ';
        groups.apply(change);
    }
    /// Source and address of each present group.
    std::set<std::string> present() const {
        std::set<std::string> all;
        groups.for_each_group([&](const TargetGroupPtr& group) {
            all.insert(std::string(group->source()) + ' ' + group->merged(0)["__address__"]);
        });
        return all;
    }
    std::string received;
    TargetGroups groups;
    bool fails = false;  ///< to record the next change
};

struct SourceFixture {
    ~SourceFixture() {
        for (const auto& follower : followers) source->unfollow(*follower);
    }
    std::shared_ptr<SourceFollower> follow(const asio::any_io_executor& strand,
                                           const std::shared_ptr<RecordingObserver>& observer) {
        auto follower = std::make_shared<SourceFollower>(source, strand, clock, observer);
        followers.push_back(follower);  // follow() may throw, and keep it
        source->follow(follower);
        return follower;
    }
    static TargetGroupPtr group(const char* name, const char* address = "10.0.0.1") {
        return test::make_group(name, {{{"__address__", address}}});
    }
    void settle() { test::settle(context); }

    asio::io_context context;
    std::shared_ptr<test::ManualClock> clock = std::make_shared<test::ManualClock>();
    std::shared_ptr<SourceState> source = std::make_shared<SourceState>();
    std::vector<std::shared_ptr<SourceFollower>> followers;
};

TEST_CASE("SourceState: a follower without memory for its handler is notified with later changes") {
    bool full = false;
    SourceFixture f;
    const auto scarce = std::make_shared<RecordingObserver>();
    const auto other = std::make_shared<RecordingObserver>();
    f.follow(test::FullExecutor{&f.context, &full}, scarce);
    f.follow(f.context.get_executor(), other);
    f.source->set({f.group("a")});
    f.settle();
    full = true;
    CHECK_THROWS_AS(f.source->set({f.group("b")}), std::bad_alloc);
    f.settle();
    CHECK(scarce->received == "+pod/ns/a ");
    CHECK(other->received == "+pod/ns/a +pod/ns/b -pod/ns/a ");
    full = false;
    f.source->set({f.group("b")});
    f.settle();
    CHECK(scarce->received == other->received);
}

TEST_CASE("SourceState: an observer that throws is notified again after a pause, in order") {
    SourceFixture f;
    const auto observer = std::make_shared<RecordingObserver>();
    f.follow(f.context.get_executor(), observer);
    f.source->set({f.group("a")});
    SECTION("of the complete state") { observer->fails = true; }
    SECTION("of changes") {
        f.settle();
        f.source->update({f.group("b")});
        observer->fails = true;
    }
    CHECK_THROWS_AS(f.settle(), std::bad_alloc);
    f.source->update({f.group("c")});
    f.clock->advance(Reminder::pause);
    f.settle();
    CHECK(observer->received.starts_with("+pod/ns/a "));
    CHECK(observer->received.ends_with("+pod/ns/c "));
}

TEST_CASE("SourceState: a follower without memory for its handler is notified after a pause") {
    bool full = true;
    SourceFixture f;
    const auto observer = std::make_shared<RecordingObserver>();
    f.source->set({f.group("a")});
    CHECK_THROWS_AS(f.follow(test::FullExecutor{&f.context, &full}, observer), std::bad_alloc);
    full = false;
    f.clock->advance(Reminder::pause);
    f.settle();
    CHECK(observer->received == "+pod/ns/a ");
}

TEST_CASE("SourceState: a change wakes a follower whose observer threw, also after several calls") {
    SourceFixture f;
    const auto observer = std::make_shared<RecordingObserver>();
    f.follow(f.context.get_executor(), observer);
    f.source->set({f.group("a")});
    for (const char* name : {"b", "c"}) {
        observer->fails = true;
        CHECK_THROWS_AS(f.settle(), std::bad_alloc);
        f.source->update({f.group(name)});
    }
    f.settle();
    CHECK(observer->present().size() == 3);
}

TEST_CASE("SourceState: a follower agrees with the source after a change without memory") {
    for (long allocations = 0;; ++allocations) {
        SourceFixture f;
        const auto observer = std::make_shared<RecordingObserver>();
        f.follow(f.context.get_executor(), observer);
        const TargetGroupPtr first = f.group("a", "1"), second = f.group("a", "2");
        SourceState::Groups next{first};
        for (int i = 0; i < 40; ++i) next.push_back(f.group(std::to_string(i).c_str()));
        f.source->set({first});
        f.settle();
        f.source->set({second});
        bool enough = true;
        test::allocations_left = allocations;
        try {
            f.source->set(next);
        } catch (const std::bad_alloc&) {
            enough = false;
        }
        test::allocations_left = -1;
        f.source->fail(errc::source_failed, "wakes the followers");
        const auto late = std::make_shared<RecordingObserver>();
        f.follow(f.context.get_executor(), late);
        f.settle();
        f.clock->advance(Reminder::pause);
        f.settle();
        CHECK(observer->present() == late->present());
        if (enough) break;
    }
}

}  // namespace
}  // namespace k8s_sd::detail
