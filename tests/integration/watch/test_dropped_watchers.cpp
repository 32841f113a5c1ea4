#include "integration/watch/url_watcher_faults.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/watch/tagging_observer.hpp"
#include "k8s_sd/detail/watch/watch_subject.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <memory>
#include <optional>
#include <string>

using namespace k8s_sd;
using namespace k8s_sd::test;

// An observer may destroy its watcher in each of its calls, and is not called afterwards.

namespace {

enum class Call { change, synced, batch_end, status, wants, tag, makes_up };

/// Destroys the watcher in the n-th call of one kind, and counts later calls.
class Leaver final : public detail::TaggingObserver {
 public:
    Leaver(Simulation& simulation, Call call, int after, const WatchOptions& options)
        : call_(call), left_(after) {
        client_ = WatchProbe::client_of(simulation);
        watcher_ = detail::Access::make_unique<URLWatcher>(
            client_,
            detail::WatchSubject(std::make_shared<const detail::WatchSetup>(
                WatchQuery{}, std::make_shared<const WatchOptions>(options),
                std::make_shared<detail::ObjectMaker>())),
            *this, this);
    }
    void start() { watcher_->start(); }
    void drop() { watcher_.reset(); }
    bool gone() const { return watcher_ == nullptr; }

    int late_calls = 0;

    void on_change(const ObjectChange&) override { called(Call::change); }
    void on_synced() override { called(Call::synced); }
    void on_batch_end() override { called(Call::batch_end); }
    void on_status() override { called(Call::status); }
    bool wants(std::string_view, std::string_view) override {
        called(Call::wants);
        return true;
    }
    std::optional<std::uint16_t> tag_of(const detail::DecodedObject&) override {
        called(Call::tag);
        return 0;
    }
    void keep_apart(const ObjectPtr&) override {}
    bool makes_up_for(error_code) override {
        return called(Call::makes_up);  // true only if the watcher was destroyed
    }

 private:
    /// \returns whether the watcher was destroyed
    bool called(Call call) {
        if (gone()) {
            ++late_calls;
        } else if (call == call_ && --left_ == 0) {
            drop();
        }
        return gone();
    }

    Call call_;
    int left_;
    std::shared_ptr<ApiClient> client_;
    std::unique_ptr<URLWatcher> watcher_;
};

constexpr const char* bad_event =
    R"({"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":"a","namespace":"default",)"
    R"("resourceVersion":"90000"},"status":{"podIP":7}}})"
    "\n";

/// Triggers every kind of call: lists, events, bad objects, removals, failures and recoveries.
void play(Simulation& simulation) {
    sim::ApiServer& server = simulation.server;
    server.apply(pod({.name = "b", .ip = "10.0.0.9"}));
    simulation.settle();
    server.send_to_watches("pods", bad_event);
    simulation.settle();
    server.fail_next(Response::failure(500, "InternalError", "no"));
    server.fail_next(Response::failure(500, "InternalError", "no"));
    server.end_watches();
    simulation.settle();
    // Such an event ends the failure.
    for (int i = 0; i < 100 && server.open_watches() == 0; ++i) simulation.advance(100ms);
    server.send_to_watches("pods", bad_event);
    simulation.advance(30s);
    server.send_to_watches("pods", bad_event);
    simulation.settle();
    server.remove("pods", "default", "b");
    simulation.settle();
    server.apply(pod({.name = "d"}));
    server.compact();
    server.end_watches();
    server.fail_next(Response::failure(410, "Expired", "too old"));
    simulation.advance(10s);
    server.set_intercept(
        [](const sim::Request&) { return Response::failure(403, "Forbidden", "no"); });
    server.disconnect_all();
    simulation.advance(2min);
}

}  // namespace

TEST_CASE("Dropped watchers: an observer may drop its watcher in each of its calls") {
    const bool streams = GENERATE(true, false);
    for (const Call call : {Call::change, Call::synced, Call::batch_end, Call::status, Call::wants,
                            Call::tag, Call::makes_up}) {
        bool gone = true;
        for (int after = 1; gone && after < 60; ++after) {
            CAPTURE(streams, static_cast<int>(call), after);
            Simulation simulation(json_server());
            for (const char* name : {"a", "b", "c"}) simulation.server.apply(pod({.name = name}));
            WatchOptions options;
            options.watch_list = streams;
            Leaver observer(simulation, call, after, options);
            observer.start();
            simulation.settle();
            if (is_by_http2() && !observer.gone())
                CHECK(simulation.server.http2_connections() == 1);
            play(simulation);
            gone = observer.gone();
            observer.drop();
            CHECK(observer.late_calls == 0);
            CHECK(simulation.metrics->of(Kind::pod).watchers == 0);
            CHECK(simulation.metrics->of(Kind::pod).objects == 0);
            CHECK(simulation.metrics->of(Kind::pod).failing_watchers == 0);
        }
    }
}
