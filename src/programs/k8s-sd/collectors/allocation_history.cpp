#include "collectors/allocation_history.hpp"

#include <memory>
#include <utility>

namespace k8s_sd_program {

void AllocationHistory::set(std::vector<Collector> members, std::set<std::string, std::less<>> idle,
                            TimePoint now) {
    auto next = std::make_shared<const Collectors>(std::move(members), options_);
    idle_ = std::move(idle);
    if (present_ && next->members() == present_->members()) return;
    if (present_ && !present_->members().empty() && handover_.count() > 0) {
        earlier_.push_front(
            {present_,
             now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(handover_)});
        if (earlier_.size() > max_earlier) earlier_.pop_back();
    }
    present_ = std::move(next);
    make_view();
}

void AllocationHistory::advance(TimePoint now) {
    const std::size_t before = earlier_.size();
    std::erase_if(earlier_, [&](const Earlier& earlier) { return earlier.until <= now; });
    if (earlier_.size() != before) make_view();
}

std::optional<AllocationHistory::TimePoint> AllocationHistory::next_end() const {
    if (earlier_.empty()) return std::nullopt;
    return earlier_.back().until;
}

void AllocationHistory::make_view() {
    std::vector<CollectorsPtr> allocations{present_};
    for (const Earlier& earlier : earlier_) allocations.push_back(earlier.collectors);
    view_ = std::make_shared<const AllocationView>(std::move(allocations));
}

}  // namespace k8s_sd_program
