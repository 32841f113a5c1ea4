#pragma once

#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/objects/object_store.hpp"
#include "k8s_sd/detail/watch/outcome.hpp"
#include "k8s_sd/detail/watch/tagging_observer.hpp"
#include "k8s_sd/detail/watch/watch_report.hpp"
#include "k8s_sd/detail/watch/watch_subject.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// The objects of one watch: selects, counts, creates and stores them, and reports each change.
///
/// Used on the watcher's executor. Nearly every function may call the observer, which may call
/// stop(); nothing is reported afterwards. All references must outlive the intake.
class WatchIntake {
 public:
    /// An opaque tag stored with the object; nullopt drops the object.
    using Tag = std::optional<std::uint16_t>;

    /// \param tagger  the observer, if it tags objects; null: all tags are 0
    WatchIntake(const WatchSubject&, WatchObserver&, TaggingObserver* tagger, WatchReport&);

    /// The observer is not called again.
    void stop() noexcept { stopped_ = true; }

    const ObjectStore& store() const noexcept { return store_; }
    /// The objects of a list with unknown kind so far.
    const RareList<ObjectPtr>& held() const noexcept { return held_; }

    /// See the functions of the same names in URLWatcher.
    void forget(std::string_view ns, std::string_view name);
    void adopt(ObjectPtr object);

    // The order of calls for each object: tag_of(), is_one_too_many(), take().

    /// The tag to store the object with; nullopt also for a deleted or probed object.
    Tag tag_of(const Exchange&, EventType, const DecodedObject&);
    /// Counts all objects of a list or probe, wanted or not, so none is endless; a list may bring
    /// new objects before it drops missing ones. An event beyond the limit is dropped with its
    /// version, so the server sends it again.
    /// \param kept  the object has a tag
    bool is_one_too_many(Exchange&, EventType, bool kept, const api::ObjectMeta&) const;
    /// Stores or removes the object; see take_bad() for one with too large labels.
    void take(const Exchange&, const DecodedObject&, Tag);

    /// Counts an unreadable object of a list or probe.
    void count_bad(Exchange&) const;
    /// Keeps the last state of the object, and reports it.
    void take_bad(const Exchange&, const BadObject&);
    /// Describes the exceeded limit.
    std::string problem_of_count(const Exchange&) const;

    void begin_list() { store_.begin_list(); }
    /// The body has ended. \param complete  the held objects are of the right kind
    void end_body(bool complete);
    /// Removes objects that are not in the complete list, as many as one handler should. A streamed
    /// list may bring further events between two calls.
    /// \returns whether no such object is left
    bool remove_missing();
    /// Whether some are left.
    bool is_removing() const noexcept { return store_.is_finishing_list(); }
    /// Keeps those that are left: the list counts no longer.
    void stop_removing() noexcept { store_.stop_finishing_list(); }
    /// Whether the complete list is suspicious. Truncated lists before the first sync do not count:
    /// no observer has seen them as a state.
    bool has_lost_much() const;

 private:
    bool wants(std::string_view ns, std::string_view name);
    ObjectPtr make(const Exchange&, const DecodedObject&);
    void keep_last_state(const Exchange&, const BadObject&);
    bool hides_state(const BadObject&) const;
    void on_change(const ObjectChange&);
    void take_back(const ObjectChange&);
    void restore(std::span<const ObjectChange> removals);

    const WatchSubject& subject_;
    WatchObserver& observer_;
    TaggingObserver* const tagger_;  ///< null: all tags are 0
    WatchReport& report_;
    ObjectStore store_;
    RareList<ObjectPtr> held_;
    bool adopted_ = false;  ///< objects from another watch
    bool stopped_ = false;
};

}  // namespace k8s_sd::inline v0::detail
