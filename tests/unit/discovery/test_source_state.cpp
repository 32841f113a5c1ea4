#include "k8s_sd/detail/discovery/sources/source_state.hpp"
#include "support/full_executor.hpp"
#include "support/groups.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <new>
#include <string>
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
        const TargetGroup& group = change.group ? *change.group : *change.previous;
        received += (change.group ? '+' : '-') + std::string(group.source()) + ' ';
    }
    std::string received;
};

struct SourceFixture {
    std::shared_ptr<SourceFollower> follow(const asio::any_io_executor& strand,
                                           const std::shared_ptr<RecordingObserver>& observer) {
        auto follower = std::make_shared<SourceFollower>(
            source, strand, std::make_shared<test::ManualClock>(), observer);
        source->follow(follower);
        return follower;
    }
    static TargetGroupPtr group(const char* name) {
        return test::make_group(name, {{{"__address__", "10.0.0.1"}}});
    }
    void settle() { test::settle(context); }

    asio::io_context context;
    std::shared_ptr<SourceState> source = std::make_shared<SourceState>();
};

TEST_CASE("SourceState: a follower without memory for its handler is notified with later changes") {
    SourceFixture f;
    bool full = false;
    const auto scarce = std::make_shared<RecordingObserver>();
    const auto other = std::make_shared<RecordingObserver>();
    const auto first = f.follow(test::FullExecutor{&f.context, &full}, scarce);
    const auto second = f.follow(f.context.get_executor(), other);
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
    f.source->unfollow(*first);
    f.source->unfollow(*second);
}

}  // namespace
}  // namespace k8s_sd::detail
