#pragma once

#include "lists/list_content.hpp"
#include "lists/selection.hpp"

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

namespace bridge {

/// How a reader gets lists.
enum class ReaderKind : std::uint8_t {
    poll,       ///< asks again and again
    long_poll,  ///< asks, and waits for another list than it has
    stream,     ///< is told what changes
    collector,  ///< of OpenTelemetry: asks for what is allocated to it
    file,       ///< is told what changes, and writes it into a file
};

/// The name of the kind.
constexpr std::string_view to_string(ReaderKind kind) noexcept {
    constexpr std::string_view names[] = {"poll", "long-poll", "stream", "collector", "file"};
    return names[static_cast<std::size_t>(kind)];
}

/// Who reads which list.
struct ConsumerKey {
    std::string address{}, agent{}, job{}, list{};
    std::string selection{};  ///< as a query, the same for equal selections and contents
    auto operator<=>(const ConsumerKey&) const = default;
};

/// One poll of a list, or one event of a stream, and what was answered.
struct ListPoll {
    std::string address{}, agent{}, job{};
    ListContent content{};
    /// nullopt: it could not be read. Without the view of collectors.
    std::optional<Selection> selection{};
    std::string member{};  ///< that the reader calls itself
    ReaderKind kind = ReaderKind::poll;
    std::optional<double> interval{};  ///< in seconds, as the reader says
    unsigned status = 0;
    std::size_t bytes = 0;  ///< that were sent
    std::string tag{};      ///< of the list; empty: none was answered
};

/// Who reads lists, and how that goes. So many at most; who was not seen for longest goes first.
/// Any thread.
class Consumers {
 public:
    using TimePoint = std::chrono::system_clock::time_point;
    static constexpr std::size_t usual_most = 10'000;
    static constexpr std::size_t most_bytes = 256;  ///< of each text
    /// Who was not seen for so long is forgotten; with long intervals after ten of them.
    static constexpr std::chrono::hours remembered{1};

    struct Consumer {
        ConsumerKey key{};
        ListPoll last{};  ///< what it last asked; `tag` is the last one that it was given
        TimePoint last_poll{};
        std::uint64_t polls = 0, bytes = 0, errors = 0;
        bool late = false;  ///< should have asked again by now
    };

    explicit Consumers(std::size_t most = usual_most) : most_(most) {}

    void saw(ListPoll, TimePoint now);
    /// Last seen first.
    std::vector<Consumer> all(TimePoint now);
    std::size_t seen_since(TimePoint) const;
    /// Those that had to go for others.
    std::uint64_t dropped() const;

 private:
    const std::size_t most_;
    mutable std::mutex mutex_;
    std::list<Consumer> known_;  ///< last seen first
    std::map<ConsumerKey, std::list<Consumer>::iterator> places_;
    std::uint64_t dropped_ = 0;
};

}  // namespace bridge
