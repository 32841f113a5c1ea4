#pragma once

#include "k8s_sd/detail/kinds/field_mask.hpp"
#include "k8s_sd/detail/sharing/watch_plan.hpp"
#include "k8s_sd/detail/watch/selection.hpp"
#include "k8s_sd/objects/object.hpp"
#include "k8s_sd/status.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

class KindWatches;
class SharedWatch;

/// The views of a kind with the same selection and share.
struct SharedSelection {
    Selection selectors;
    std::string label_selector, field_selector;
    ObjectShare share;
    std::size_t number = 0;  ///< of its bit in a ViewSet

    bool has_selectors_of(const WatchQuery& query) const {
        return query.label_selector == label_selector && query.field_selector == field_selector;
    }
};
using SharedSelectionPtr = std::shared_ptr<const SharedSelection>;

/// The objects of a kind in one view, merged from all its watches. Strand-confined, except for
/// add_status().
class KindView {
 public:
    /// Receives the objects. Called on the strand.
    class Observer {
     public:
        /// See WatchObserver.
        virtual void on_change(const ObjectChange&) = 0;
        /// The end of a batch of changes; kinds may be synced now. After an exception it is called
        /// again at the end of the next read, even without a change; it must not destroy the view
        /// and throw.
        virtual void on_batch_end() = 0;
        /// The status of a watch has changed in more than the object count.
        virtual void on_status() = 0;
        /// A watch has heard from its server, perhaps without a change.
        virtual void on_contact(TimePoint /*when*/) {}

     protected:
        ~Observer() = default;
    };

    /// Plans its watches in a later invocation, together with other new views.
    KindView(std::shared_ptr<KindWatches> watches, WantedObjects wanted, Observer& observer);
    KindView(const KindView&) = delete;
    KindView& operator=(const KindView&) = delete;
    ~KindView();

    /// Whether all selected objects have been listed.
    bool synced() const noexcept { return !now_.empty() && unsynced_ == 0; }
    /// Whether the client's current server has listed all selected objects.
    bool knows_present_server() const;
    /// The object of that name, or null. Cluster-scoped kinds ignore `ns`.
    const Object* find(std::string_view ns, std::string_view name) const;
    void for_each(const std::function<void(const ObjectPtr&)>& visit) const;
    /// Whether two objects differ in any requested field.
    bool distinguishes(const Object& before, const Object& after) const;
    /// Adds the status of its watches, and of failing replacements. Any thread.
    void add_status(std::vector<WatchStatus>& status) const;
    /// Ends pauses of its watches after failures whose reason may be gone.
    void end_pauses();

 private:
    friend class KindWatches;
    friend class SharedWatch;
    /// By namespace; the key "" is a watch of all namespaces.
    using Watches = std::map<std::string, std::shared_ptr<SharedWatch>, std::less<>>;

    bool is_for_labels() const noexcept { return wanted_.fields.empty(); }
    std::optional<std::size_t> selection_number() const noexcept {
        return selection_ ? std::optional(selection_->number) : std::nullopt;
    }
    bool sees(const Object& object) const noexcept;
    bool wants_namespace(std::string_view ns) const;
    /// Whether the view needs all of this query's results, and is subscribed to them.
    bool needs(const WatchQuery& query) const;
    void on_change(const ObjectChange& change);
    void on_batch_end();

    const std::shared_ptr<KindWatches> watches_;
    const WantedObjects wanted_;
    const FieldMask mask_;                ///< of the requested fields
    const SharedSelectionPtr selection_;  ///< null: no selection
    Observer& observer_;
    // Changed on the strand only, under the mutex.
    Watches now_;
    Watches next_;              ///< replacements, until they have caught up
    std::size_t unsynced_ = 0;  ///< of now_
    bool reported_ = false;     ///< reported a change since the last end of a batch
};

}  // namespace k8s_sd::inline v0::detail
