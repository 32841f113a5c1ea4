#include "collectors/allocation_count.hpp"

#include "cli/terminal_text.hpp"
#include "jobs/job_walk.hpp"

#include <boost/asio/post.hpp>
#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace k8s_sd_program {

namespace {

constexpr auto count_interval = std::chrono::seconds(10);

/// The name used by the Target Allocator.
std::string_view strategy_of(Allocation allocation) noexcept {
    return allocation == Allocation::per_node ? "per-node" : "consistent-hashing";
}

std::string unassigned_line(const AllocationMetrics& counts) {
    std::size_t targets = 0;
    std::string jobs;
    for (const auto& [name, job] : counts.jobs) {
        if (job.unassigned == 0) continue;
        targets += job.unassigned;
        jobs += (jobs.empty() ? "" : ", ") + name + " (" + std::to_string(job.unassigned) + ")";
    }
    std::string line = cli::counted(targets, "target") + (targets == 1 ? " is" : " are") +
                       " allocated to no collector: " + jobs;
    if (counts.collectors.empty()) return line + "; there is no collector";
    return line + "; no collector runs on their node, or they have no node; with "
                  "--allocation-fallback they are allocated by consistent hashing";
}

}  // namespace

void count_allocation(AllocationMetrics& counts, const std::string& job, JobTargets& targets,
                      const AllocationViewPtr& view, Listing::TimePoint now) {
    if (!targets.complete()) return;
    const ListContent content{ListForm::collector};
    ListSelection selection;
    selection.division.collectors = view;
    for (auto& [name, count] : counts.collectors) {
        selection.collector = name;
        count += targets.count(content, selection, now);
    }
    selection.unassigned = true;
    const JobTargetCounts known = targets.counts();
    counts.jobs[job] = {known.discovered, known.active, targets.count(content, selection, now)};
}

std::string UnassignedNotes::check(const AllocationMetrics& counts) {
    std::set<std::string> now, lasting;
    for (const auto& [name, job] : counts.jobs) {
        if (job.unassigned > 0) now.insert(name);
    }
    std::set_intersection(now.begin(), now.end(), before_.begin(), before_.end(),
                          std::inserter(lasting, lasting.end()));
    before_ = std::move(now);
    const bool is_new =
        !std::includes(reported_.begin(), reported_.end(), lasting.begin(), lasting.end());
    const bool is_over = before_.empty() && !reported_.empty();
    if (is_new) reported_.insert(lasting.begin(), lasting.end());
    if (is_over) reported_.clear();
    if (is_over) return "all targets are allocated to collectors again";
    return is_new ? unassigned_line(counts) : std::string();
}

AllocationCount::AllocationCount(const boost::asio::any_io_executor& strand, const ServedJobs& jobs,
                                 const TargetAllocator& allocator, Report report)
    : strand_(strand),
      jobs_(jobs),
      allocator_(allocator),
      report_(std::move(report)),
      timer_(allocator.options().clock->make_timer(strand)) {}

void AllocationCount::start() {
    if (allocator_.options().enabled()) wait();
}

void AllocationCount::stop() {
    stopped_ = true;
    timer_->cancel();
}

void AllocationCount::wait() {
    timer_->expires_at(allocator_.options().clock->now() + count_interval, [this] { count(); });
}

void AllocationCount::count() {
    const AllocationViewPtr view = allocator_.view();
    if (!view) return on_counted(std::nullopt);
    const auto counts = std::make_shared<AllocationMetrics>();
    counts->strategy = strategy_of(allocator_.options().allocation.allocation);
    counts->discovered = view->present().members().size() + allocator_.idle().size();
    for (const Collector& member : view->present().members()) counts->collectors[member.name];
    const auto end = [counts, weak = weak_from_this(), strand = strand_](bool complete) {
        boost::asio::post(strand, [counts, weak, complete] {
            const auto self = weak.lock();
            if (!self || self->stopped_) return;
            self->on_counted(complete ? std::optional(std::move(*counts)) : self->last_);
        });
    };
    const Listing::TimePoint now = allocator_.options().clock->now();
    walk(
        jobs_named(jobs_),
        [counts, view, now](const std::string& job, JobTargets& targets) {
            try {
                count_allocation(*counts, job, targets, view, now);
            } catch (const LimitReached&) {
                // Readers get the error themselves.
            }
            return Walk::next;
        },
        end,
        // After a failure the next count tries again.
        [end](const std::exception_ptr&) { end(false); });
}

void AllocationCount::on_counted(std::optional<AllocationMetrics> counts) {
    last_ = std::move(counts);
    const std::string line = last_ ? notes_.check(*last_) : std::string();
    if (!line.empty()) report_(line);
    wait();
}

}  // namespace k8s_sd_program
