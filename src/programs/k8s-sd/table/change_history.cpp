#include "table/change_history.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

namespace k8s_sd_program {

namespace {

constexpr std::size_t epoch_digits = 9;  // until the year 5188
constexpr std::string_view base36_digits = "0123456789abcdefghijklmnopqrstuvwxyz";

std::int64_t unix_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string epoch_at(std::int64_t milliseconds) {
    std::string text(epoch_digits, '0');
    auto rest = static_cast<std::uint64_t>(milliseconds);
    for (auto digit = text.rbegin(); digit != text.rend(); ++digit, rest /= base36_digits.size()) {
        *digit = base36_digits[rest % base36_digits.size()];
    }
    return text;
}

}  // namespace

std::optional<ChangeId> read_change_id(std::string_view text) {
    const std::string_view epoch = text.substr(0, epoch_digits);
    if (text.size() < epoch_digits + 2 || text[epoch_digits] != '-' ||
        epoch.find_first_not_of(base36_digits) != epoch.npos) {
        return std::nullopt;
    }
    ChangeId id{std::string(epoch)};
    text.remove_prefix(epoch_digits + 1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id.seq);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return id;
}

ChangeHistory::ChangeHistory() : epoch_(epoch_at(unix_ms())) {}

void ChangeHistory::Ring::add(TargetChangePtr change, std::size_t max_changes) {
    changes.push_back(std::move(change));
    if (changes.size() <= max_changes) return;
    changes.pop_front();
    ++lost;
}

void ChangeHistory::add(const std::string& job, std::vector<TargetChange> changes) {
    const std::int64_t now = unix_ms();
    const std::lock_guard lock(mutex_);
    for (TargetChange& change : changes) {
        change.seq = ++seq_;
        change.time = now;
        change.job = job;
        const auto shared = std::make_shared<const TargetChange>(std::move(change));
        all_.add(shared, of_all);
        jobs_[job].add(shared, of_a_job);
    }
}

void ChangeHistory::forget(const std::string& job) {
    const std::lock_guard lock(mutex_);
    jobs_.erase(job);
}

ChangeHistory::Page ChangeHistory::page(const std::string& job, std::uint64_t before,
                                        std::size_t limit) const {
    const std::lock_guard lock(mutex_);
    const auto of_job = jobs_.find(job);
    if (!job.empty() && of_job == jobs_.end()) return {};
    const Ring& ring = job.empty() ? all_ : of_job->second;
    Page page{.lost = ring.lost};
    for (auto change = ring.changes.rbegin(); change != ring.changes.rend(); ++change) {
        if ((*change)->seq >= before) continue;
        if (page.changes.size() == limit) {
            page.next = page.changes.back()->seq;
            break;
        }
        page.changes.push_back(*change);
    }
    return page;
}

std::vector<TargetChangePtr> ChangeHistory::since(std::uint64_t seq, std::size_t limit) const {
    const std::lock_guard lock(mutex_);
    const auto first = std::upper_bound(
        all_.changes.begin(), all_.changes.end(), seq,
        [](std::uint64_t number, const TargetChangePtr& change) { return number < change->seq; });
    const auto left = static_cast<std::size_t>(all_.changes.end() - first);
    return {first, first + static_cast<std::ptrdiff_t>(std::min(limit, left))};
}

std::uint64_t ChangeHistory::newest() const {
    const std::lock_guard lock(mutex_);
    return seq_;
}

}  // namespace k8s_sd_program
