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

namespace bridge {

/// One change of the targets that are scraped.
struct TargetChange {
    std::uint64_t seq = 0;  ///< its number among the changes of all jobs, from 1
    std::int64_t time = 0;  ///< Unix time in milliseconds
    std::string job{};
    std::string_view kind{};  ///< "added", "changed" or "removed"
    std::string id{};         ///< of the target; empty: of many
    std::string address{};
    std::string object{};
    std::string what{};    ///< in words
    std::string reason{};  ///< why it is no target any more, in words; empty: not known
};
using TargetChangePtr = std::shared_ptr<const TargetChange>;

/// A text of ChangeHistory::id_of(), of any process.
struct ChangeId {
    std::string epoch{};
    std::uint64_t seq = 0;
};
/// nullopt: it is none.
std::optional<ChangeId> read_change_id(std::string_view text);

/// The newest changes of each job, and of all together. Any thread.
class ChangeHistory {
 public:
    static constexpr std::size_t of_a_job = 1000;
    static constexpr std::size_t of_all = 10'000;

    ChangeHistory();

    /// Tells this history from that of an earlier process: later ones are greater, as texts.
    const std::string& epoch() const noexcept { return epoch_; }
    /// The number of a change, as others know it: "<epoch>-<number>".
    std::string id_of(std::uint64_t seq) const { return epoch_ + "-" + std::to_string(seq); }

    /// Changes of one job; `seq`, `time` and `job` are filled in.
    void add(const std::string& job, std::vector<TargetChange>);
    /// The job is gone.
    void forget(const std::string& job);

    /// Some changes, newest first.
    struct Page {
        std::vector<TargetChangePtr> changes{};
        std::optional<std::uint64_t> next{};  ///< older ones come before this number
        std::uint64_t lost = 0;               ///< older ones that are no longer known
    };
    /// \param job     empty: of all
    /// \param before  of the numbers below this one
    Page page(const std::string& job, std::uint64_t before, std::size_t limit) const;
    /// Those behind this number, oldest first.
    std::vector<TargetChangePtr> since(std::uint64_t seq, std::size_t limit) const;
    /// The number of the last change; 0: there was none.
    std::uint64_t newest() const;

 private:
    struct Ring {
        std::deque<TargetChangePtr> changes{};
        std::uint64_t lost = 0;

        void add(TargetChangePtr, std::size_t most);
    };

    const std::string epoch_;
    mutable std::mutex mutex_;
    std::uint64_t seq_ = 0;
    Ring all_;
    std::map<std::string, Ring> jobs_;
};

}  // namespace bridge
