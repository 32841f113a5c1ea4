#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// One change of the scraped targets.
struct TargetChange {
    std::uint64_t seq = 0;  ///< its number among the changes of all jobs, from 1
    std::int64_t time = 0;  ///< Unix time in milliseconds
    std::string job{};
    std::string_view kind{};  ///< "added", "changed" or "removed"
    std::string id{};         ///< of the target; empty: many targets
    std::string address{};
    std::string object{};
    std::string what{};    ///< in words
    std::string reason{};  ///< why the target was removed, in words; empty: unknown
};
using TargetChangePtr = std::shared_ptr<const TargetChange>;

/// A parsed ChangeHistory::id_of(), of any process.
struct ChangeId {
    std::string epoch{};
    std::uint64_t seq = 0;
};
/// nullopt: malformed.
std::optional<ChangeId> read_change_id(std::string_view text);

/// The newest changes of each job, and of all together. Any thread.
class ChangeHistory {
 public:
    static constexpr std::size_t of_a_job = 1000;
    static constexpr std::size_t of_all = 10'000;

    ChangeHistory();

    /// Identifies the history of this process: later processes have greater epochs, as texts.
    const std::string& epoch() const noexcept { return epoch_; }
    /// The external id of a change: "<epoch>-<number>".
    std::string id_of(std::uint64_t seq) const { return epoch_ + "-" + std::to_string(seq); }

    /// Adds changes of one job; fills in `seq`, `time` and `job`.
    void add(const std::string& job, std::vector<TargetChange>);
    /// The job was removed.
    void forget(const std::string& job);

    /// Some changes, newest first.
    struct Page {
        std::vector<TargetChangePtr> changes{};
        std::optional<std::uint64_t> next{};  ///< older changes have numbers below this one
        std::uint64_t lost = 0;               ///< older changes already dropped
    };
    /// \param job     empty: all jobs
    /// \param before  return changes with lower numbers
    Page page(const std::string& job, std::uint64_t before, std::size_t limit) const;
    /// The changes after this number, oldest first.
    std::vector<TargetChangePtr> since(std::uint64_t seq, std::size_t limit) const;
    /// The number of the last change; 0: none.
    std::uint64_t newest() const;

 private:
    struct Ring {
        std::deque<TargetChangePtr> changes{};
        std::uint64_t lost = 0;

        void add(TargetChangePtr, std::size_t max_changes);
    };

    const std::string epoch_;
    mutable std::mutex mutex_;
    std::uint64_t seq_ = 0;
    Ring all_;
    std::map<std::string, Ring> jobs_;
};

}  // namespace k8s_sd_program
