#include "k8s_sd/detail/client/server_traffic.hpp"
#include "property/for_each_seed.hpp"
#include "property/random_cluster.hpp"
#include "support/manual_clock.hpp"
#include "support/settle.hpp"

#include <catch2/catch_test_macros.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

using k8s_sd::detail::PermitQueue;
using k8s_sd::detail::ServerTraffic;

/// Many clients that list repeatedly, each on its own strand: for a random time, with random
/// cancellations, some replacing another request, some without queueing.
class Crowd {
 public:
    explicit Crowd(std::uint64_t seed) : random_(seed) {
        limit_ = 1 + random_.below(6);
        traffic_ = std::make_shared<ServerTraffic>(ServerLimits{limit_, 0}, metrics_);
        for (unsigned i = 2 + random_.below(60); i > 0; --i) {
            members_.push_back(std::make_unique<Member>(context_, *clock_));
        }
    }

    void run() {
        for (int step = 0; step < 400; ++step) {
            Member& member = *members_[random_.below(static_cast<unsigned>(members_.size()))];
            switch (random_.below(8)) {
                case 0: leave(member); break;
                case 1: ask_without_queueing(member); break;
                default: ask(member);
            }
            for (unsigned i = random_.below(5); i > 0; --i) context_.poll_one();
            context_.restart();
            if (random_.one_in(3)) advance(std::chrono::milliseconds(random_.below(2000)));
            check();
        }
        // No client starves: each list ends within two seconds, so every client has been served
        // after these rounds.
        const auto rounds = (members_.size() + limit_ - 1) / limit_ + 1;
        for (std::size_t i = 0; i < rounds; ++i) advance(2s);
        settle(context_);
        for (const auto& member : members_) CHECK_FALSE(member->waits);
        advance(2s);
        CHECK(metrics_->lists_running == 0);
        CHECK(metrics_->lists_waiting == 0);
    }

 private:
    struct Member {
        Member(asio::io_context& context, Clock& clock)
            : strand(asio::make_strand(context)), timer(clock.make_timer(strand)) {}
        asio::any_io_executor strand;
        std::unique_ptr<Timer> timer;
        PermitQueue::RequestHandle handle;
        PermitQueue::Permit permit;
        bool waits = false;
    };

    void ask(Member& member) {
        if (member.waits || member.permit) return;
        member.waits = true;
        line_.push_back(&member);
        member.handle =
            traffic_->list_permits->async_permit(member.strand, [this, &member](auto permit) {
                // First come, first served; granted requests run in the order of the strands.
                CHECK(member.waits);
                const auto ahead = std::find(line_.begin(), line_.end(), &member) - line_.begin();
                CHECK(static_cast<std::size_t>(ahead) < limit_);
                std::erase(line_, &member);
                member.waits = false;
                list(member, std::move(permit));
            });
    }
    void ask_without_queueing(Member& member) {
        if (member.waits || member.permit) return;
        PermitQueue::Permit permit = traffic_->list_permits->try_permit();
        if (!permit) return;
        CHECK(metrics_->lists_waiting == 0);
        list(member, std::move(permit));
    }
    void list(Member& member, PermitQueue::Permit permit) {
        member.permit = std::move(permit);
        member.timer->expires_at(clock_->now() + std::chrono::milliseconds(random_.below(2000)),
                                 [&member] { member.permit.reset(); });
    }
    void leave(Member& member) {
        member.handle.reset();
        member.permit.reset();
        member.timer->cancel();
        member.waits = false;
        std::erase(line_, &member);
    }
    void advance(Duration time) {
        settle(context_);
        const TimePoint end = clock_->now() + time;
        while (clock_->next_expiry() <= end) {
            clock_->advance(std::max(clock_->next_expiry() - clock_->now(), Duration{}));
            settle(context_);
            check();
        }
        clock_->advance(end - clock_->now());
        settle(context_);
    }
    void check() {
        const auto running = std::count_if(members_.begin(), members_.end(),
                                           [](const auto& member) { return bool(member->permit); });
        CHECK(static_cast<std::size_t>(running) <= limit_);
        CHECK(static_cast<std::size_t>(metrics_->lists_running) <= limit_);
        // No permit is idle while a client waits for one.
        CHECK((metrics_->lists_waiting == 0 ||
               static_cast<std::size_t>(metrics_->lists_running) == limit_));
    }

    Random random_;
    std::size_t limit_ = 1;
    asio::io_context context_;
    std::shared_ptr<ManualClock> clock_ = std::make_shared<ManualClock>();
    std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
    std::shared_ptr<ServerTraffic> traffic_;
    std::vector<std::unique_ptr<Member>> members_;
    std::deque<Member*> line_;
};

}  // namespace

TEST_CASE("Server budget: its bound holds, and no watch starves") {
    for_each_seed("BUDGET", 100, [&](std::uint64_t seed) { Crowd(seed).run(); });
}
