#include "jobs/job_walk.hpp"

#include <chrono>
#include <cstddef>
#include <exception>

namespace k8s_sd_program {

namespace {

using TimePoint = std::chrono::steady_clock::time_point;

class Walker final : public std::enable_shared_from_this<Walker> {
 public:
    Walker(std::vector<NamedJob> jobs, Visit visit, std::function<void(bool)> done,
           OnFailure failed, TimePoint end)
        : jobs_(std::move(jobs)),
          visit_(std::move(visit)),
          done_(std::move(done)),
          failed_(std::move(failed)),
          end_(end) {}

    void start() noexcept {
        attempt(failed_, [this] { step(); });
    }

 private:
    void step() {
        if (at_ == jobs_.size()) return done_(true);
        const auto& [name, job] = jobs_[at_];
        // A job that has ended only releases this.
        const std::shared_ptr<void> next_step(nullptr, [self = shared_from_this()](void*) {
            attempt(self->failed_, [&] { self->after(std::exchange(self->outcome_, Walk::next)); });
        });
        job->visit([next_step, self = this, &named = name](JobTargets& targets) {
            try {
                self->outcome_ = self->visit_(named, targets);
            } catch (...) {
                self->failure_ = std::current_exception();
            }
        });
    }

    void after(Walk outcome) {
        if (failure_) std::rethrow_exception(failure_);
        if (outcome == Walk::next) ++at_;
        if (outcome == Walk::end) at_ = jobs_.size();
        if (at_ != jobs_.size() && std::chrono::steady_clock::now() >= end_) return done_(false);
        step();
    }

    const std::vector<NamedJob> jobs_;
    const Visit visit_;
    const std::function<void(bool)> done_;
    const OnFailure failed_;
    const TimePoint end_;
    std::exception_ptr failure_;  ///< thrown by a visit
    std::size_t at_ = 0;
    Walk outcome_ = Walk::next;
};

}  // namespace

void walk(std::vector<NamedJob> jobs, Visit visit, std::function<void(bool)> done, OnFailure failed,
          std::chrono::nanoseconds max_time) {
    const TimePoint end = std::chrono::steady_clock::now() + max_time;
    std::make_shared<Walker>(std::move(jobs), std::move(visit), std::move(done), std::move(failed),
                             end)
        ->start();
}

std::vector<NamedJob> jobs_named(const ServedJobs& jobs, const std::string& name) {
    std::vector<NamedJob> result;
    for (const std::string_view known : jobs.names()) {
        if (name.empty() || known == name) result.emplace_back(known, jobs.find(known));
    }
    return result;
}

void complete_tables(std::vector<NamedJob> jobs, Gate::Pass pass) {
    walk(
        std::move(jobs),
        [](const std::string&, JobTargets& targets) {
            TargetTable& table = targets.table(std::chrono::steady_clock::now());
            return read_on(table) ? Walk::next : Walk::again;
        },
        [pass](bool) {}, [pass](const std::exception_ptr&) {});
}

}  // namespace k8s_sd_program
