#pragma once

#include "lists/list_content.hpp"
#include "lists/list_selection.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd_program {

/// How a reader receives lists.
enum class ReaderKind : std::uint8_t {
    poll,       ///< polls periodically
    long_poll,  ///< polls and waits until the list has changed
    stream,     ///< receives changes
    collector,  ///< of OpenTelemetry: polls its allocated targets
    file,       ///< receives changes and writes them to a file
};

/// The name of the kind.
constexpr std::string_view to_string(ReaderKind kind) noexcept {
    constexpr std::string_view names[] = {"poll", "long-poll", "stream", "collector", "file"};
    return names[static_cast<std::size_t>(kind)];
}

/// A reader of a list.
struct ConsumerKey {
    std::string address{}, agent{}, job{}, list{};
    std::string selection{};  ///< as a normalized query
    auto operator<=>(const ConsumerKey&) const = default;
};

/// One poll of a list, or one event of a stream, with its result.
struct ListPoll {
    std::string address{}, agent{}, job{};
    ListContent content{};
    /// nullopt: malformed. Without the view of collectors.
    std::optional<ListSelection> selection{};
    std::string member{};  ///< the reader's name for itself
    ReaderKind kind = ReaderKind::poll;
    std::optional<double> interval{};  ///< in seconds, as declared by the reader
    unsigned status = 0;
    std::size_t bytes = 0;  ///< sent
    std::string tag{};      ///< of the list; empty: none was sent
};

/// The readers of lists, with their success. Bounded: the least recently seen reader is dropped
/// first. Any thread.
class Consumers {
 public:
    using TimePoint = std::chrono::system_clock::time_point;
    static constexpr std::size_t default_max = 10'000;
    static constexpr std::size_t max_text_bytes = 256;  ///< of each text
        /// A reader is forgotten after this time without a request, or after ten longer intervals.
    static constexpr std::chrono::hours remembered{1};

    struct Consumer {
        ConsumerKey key{};
        ListPoll last{};  ///< the last request; `tag` is the last one sent
        TimePoint last_poll{};
        std::uint64_t polls = 0, bytes = 0, errors = 0;
        bool late = false;  ///< the next request is overdue
    };

    explicit Consumers(std::size_t max_consumers = default_max) : max_consumers_(max_consumers) {}

    void saw(ListPoll, TimePoint now);
    /// Most recently seen first.
    std::vector<Consumer> all(TimePoint now);
    std::size_t seen_since(TimePoint) const;
    /// Readers forgotten because of the limit.
    std::uint64_t dropped() const;

 private:
    const std::size_t max_consumers_;
    mutable std::mutex mutex_;
    std::list<Consumer> known_;  ///< most recently seen first
    std::map<ConsumerKey, std::list<Consumer>::iterator> places_;
    std::uint64_t dropped_ = 0;
};

}  // namespace k8s_sd_program
