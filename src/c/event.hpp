#pragma once

#include "json_writer.hpp"
#include "k8s_sd_c.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace k8s_sd_c {

/// Texts of an event made when the host asks for them, valid as long as the event.
class MadeTexts {
 public:
    /// \param make  returns the text; called once for each pair of change and name
    template <class Make>
    std::string_view get(std::size_t change, std::string_view name, const Make& make) {
        const Key key(change, name);
        auto it = texts_.find(key);
        if (it == texts_.end()) it = texts_.emplace(key, make()).first;
        return it->second;
    }

 private:
    using Key = std::pair<std::size_t, std::string>;

    std::map<Key, std::string> texts_;
};

/// The watch of an event, as the host knows it.
struct WatchIdentity {
    k8s_sd_id id = 0;
    void* user = nullptr;
};

/// The changes of one watch. The accessors have the meaning of the functions of the same name in
/// k8s_sd_c.h; `change` is always below size().
class Event {
 public:
    Event(k8s_sd_event_type type, WatchIdentity watch, bool full, bool more = false)
        : type_(type), watch_(watch), full_(full), more_(more) {}
    virtual ~Event() = default;
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    k8s_sd_event_type type() const noexcept { return type_; }
    const WatchIdentity& watch() const noexcept { return watch_; }
    bool full() const noexcept { return full_; }
    bool more() const noexcept { return more_; }
    virtual bool synced() const noexcept { return false; }
    virtual std::string_view message() const noexcept { return {}; }
    virtual std::string_view job() const noexcept { return {}; }
    /// Made at the first call.
    virtual std::string_view json();

    virtual std::size_t size() const noexcept { return 0; }
    virtual k8s_sd_op op(std::size_t change) const;
    virtual std::string_view key(std::size_t change);
    virtual std::size_t targets(std::size_t change) const;
    /// \return number of pairs of the set; those that fit are copied
    virtual std::size_t pairs(std::size_t change, std::int64_t set, std::span<k8s_sd_pair>) const;
    virtual std::optional<std::string_view> value(std::size_t change, std::int64_t set,
                                                  std::string_view name) const;
    virtual std::optional<std::string_view> field(std::size_t change, std::string_view pointer);
    virtual std::string_view url(std::size_t change);
    virtual std::uint64_t interval_ms(std::size_t change) const;
    virtual std::uint64_t timeout_ms(std::size_t change) const;

 protected:
    /// Writes the members of a change behind `op` and `key`.
    virtual void write_change(JsonWriter&, std::size_t change);
    /// Writes the members of the event's own.
    virtual void write_members(JsonWriter&) {}
    /// \param size  expected size: with enough, no copy of a growing text stays in memory
    std::string make_json(std::size_t size = 0);

    MadeTexts made_;

 private:
    const k8s_sd_event_type type_;
    const WatchIdentity watch_;
    const bool full_;
    const bool more_;
    std::optional<std::string> json_;
};

using EventPtr = std::unique_ptr<Event>;

/// Hands the event over to the host.
k8s_sd_event* to_host(EventPtr) noexcept;

/// Copies pairs of a range into those of the host.
template <class Range>
std::size_t copy_pairs(const Range& range, std::span<k8s_sd_pair> out) {
    std::size_t count = 0;
    for (const auto& [name, value] : range) {
        if (count < out.size()) {
            out[count] = {{name.data(), name.size()}, {value.data(), value.size()}};
        }
        ++count;
    }
    return count;
}

}  // namespace k8s_sd_c
