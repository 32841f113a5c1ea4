#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace bridge {

/// Who polls which list.
struct ConsumerKey {
    std::string address{}, agent{}, job{}, list{}, selection{};
    auto operator<=>(const ConsumerKey&) const = default;
};

/// One poll of a list, and what was answered.
struct ListPoll {
    ConsumerKey who{};
    std::optional<double> interval{};  ///< in seconds, as the reader says
    unsigned status = 0;
    std::size_t bytes = 0;  ///< that were sent
    std::string tag{};      ///< of the list; empty: none was answered
};

/// Who polls lists, and how that goes. So many at most; who was not seen for longest goes first.
/// Any thread.
class Consumers {
 public:
    using TimePoint = std::chrono::system_clock::time_point;
    static constexpr std::size_t usual_most = 10'000;
    static constexpr std::size_t most_bytes = 256;  ///< of each text

    struct Consumer {
        ConsumerKey key{};
        std::optional<double> interval{};
        TimePoint last_poll{};
        std::uint64_t polls = 0, bytes = 0, errors = 0;
        unsigned status = 0;
        bool current = false;  ///< has the newest version of the list that anybody was given
        bool late = false;     ///< should have asked again by now
    };

    explicit Consumers(std::size_t most = usual_most) : most_(most) {}

    void saw(ListPoll, TimePoint now);
    /// Last seen first. \param limit  so many at most
    std::vector<Consumer> all(TimePoint now, std::size_t limit) const;
    std::size_t seen_since(TimePoint) const;
    /// Those that had to go for others.
    std::uint64_t dropped() const;

 private:
    using ListName = std::tuple<std::string, std::string, std::string>;  ///< job, list, selection
    struct Known {
        Consumer consumer{};
        std::string tag{};
    };
    struct Newest {
        std::string tag{};
        std::size_t readers = 0;  ///< in the table
    };

    static ListName list_of(const ConsumerKey&);
    void forget_oldest();

    const std::size_t most_;
    mutable std::mutex mutex_;
    std::list<Known> known_;  ///< last seen first
    std::map<ConsumerKey, std::list<Known>::iterator> places_;
    std::map<ListName, Newest> newest_;
    std::uint64_t dropped_ = 0;
};

}  // namespace bridge
