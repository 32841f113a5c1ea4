#pragma once

#include "sim/api/list_options.hpp"
#include "sim/api/render.hpp"
#include "sim/store/store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace k8s_sd::inline v0::sim {

/// The events of a watch, without I/O: initial events, changes, bookmarks, errors.
class Watch {
 public:
    Watch(const Store&, const ResourceType&, std::string ns, ListOptions, Encoding);

    const ResourceType& type() const { return type_; }
    const ListOptions& options() const { return options_; }
    const Encoding& encoding() const { return encoding_; }

    /// Appends events to `out` until it holds `limit` bytes or there are no more events.
    void produce(std::string& out, std::size_t limit);
    bool ended() const { return ended_; }
    /// Ends the watch after the changes so far have been sent.
    void end() { end_at_ = end_at_.value_or(position_.next + unread()); }
    /// Stops all further events: ended() after the next produce().
    void cut() { ending_ = true; }
    /// Requests a bookmark after all changes, if the client allows bookmarks.
    void want_bookmark() { bookmark_wanted_ = options_.bookmarks; }
    /// Number of changes not sent yet.
    std::uint64_t unread() const { return store_.unread(type_, position_); }

 private:
    void begin();
    void begin_with_state();
    void begin_after(std::uint64_t version);
    bool produce_initial(std::string& out, std::size_t limit);
    void produce_changes(std::string& out, std::size_t limit);
    void append_change(std::string& out, const Change&);
    void append(std::string& out, std::string_view event, const Object&);
    void fail_expired(std::uint64_t version);
    bool selected(const ObjectPtr&) const;

    const Store& store_;
    const ResourceType& type_;
    std::string ns_;
    ListOptions options_;
    Encoding encoding_;

    std::vector<ObjectPtr> initial_;
    std::size_t initial_sent_ = 0;
    bool initial_bookmark_ = false;  ///< the end of the initial events must be marked
    std::uint64_t initial_version_ = 0;
    std::uint64_t skip_until_ = 0;  ///< changes up to this version are skipped
    Store::Position position_;
    boost::json::object error_;  ///< sent next, then the watch ends
    bool first_event_ = true;
    bool bookmark_wanted_ = false;
    std::optional<std::uint64_t> end_at_;  ///< position after the last change to send
    bool ending_ = false;
    bool ended_ = false;
};

}  // namespace k8s_sd::inline v0::sim
