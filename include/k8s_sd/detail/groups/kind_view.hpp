#pragma once

#include "k8s_sd/detail/groups/watch_plan.hpp"
#include "k8s_sd/detail/kinds/field_mask.hpp"
#include "k8s_sd/detail/watch/selection.hpp"
#include "k8s_sd/object.hpp"
#include "k8s_sd/status.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

class KindWatches;
class SharedWatch;

/// Those views of a kind that have one selection of one share.
struct Party {
    Selection selection;
    std::string label_selector, field_selector;
    ObjectShare share;
    std::size_t number = 0;  ///< in audiences

    bool has_selectors_of(const WatchQuery& query) const {
        return query.label_selector == label_selector && query.field_selector == field_selector;
    }
};
using PartyPtr = std::shared_ptr<const Party>;

/// The objects of a kind as one view sees them: those that it wants, of whatever watches have them.
/// Strand-confined, except for add_status().
class KindView {
 public:
    /// Who is told of the objects. Called on the strand.
    class Observer {
     public:
        /// See WatchObserver.
        virtual void on_change(const ObjectChange&) = 0;
        /// All changes that arrived together were reported; it may be that kinds are synced now.
        virtual void on_batch_end() = 0;
        /// The status of a watch has changed in more than the number of objects.
        virtual void on_status() = 0;
        /// A watch has heard of its server, be it that nothing has changed.
        virtual void on_contact(TimePoint /*when*/) {}

     protected:
        ~Observer() = default;
    };

    /// What it wants is planned together with what others want, a turn later.
    KindView(std::shared_ptr<KindWatches> watches, WantedObjects wanted, Observer& observer);
    KindView(const KindView&) = delete;
    KindView& operator=(const KindView&) = delete;
    ~KindView();

    /// Whether all that it wants has been listed completely.
    bool synced() const noexcept { return !now_.empty() && unsynced_ == 0; }
    /// Whether all that it wants was listed by the server that the client leads to now.
    bool knows_present_server() const;
    /// The object of that name, or null. `ns` does not matter for kinds without namespaces.
    const Object* find(std::string_view ns, std::string_view name) const;
    void for_each(const std::function<void(const ObjectPtr&)>& visit) const;
    /// Whether two objects differ in what it wants.
    bool tells_apart(const Object& before, const Object& after) const;
    /// Of the watches that it has, and of those that fail to take their place. Any thread.
    void add_status(std::vector<WatchStatus>& status) const;

 private:
    friend class KindWatches;
    friend class SharedWatch;
    /// By namespace; one with the key "" where all namespaces are watched together.
    using Watches = std::map<std::string, std::shared_ptr<SharedWatch>, std::less<>>;

    bool is_for_labels() const noexcept { return wanted_.fields.empty(); }
    bool sees(const Object& object) const noexcept;
    bool wants_namespace(std::string_view ns) const;
    /// Whether the view could not do with less than this, of which it has a seat.
    bool needs(const WatchQuery& query) const;
    void on_change(const ObjectChange& change);
    void on_batch_end();

    const std::shared_ptr<KindWatches> watches_;
    const WantedObjects wanted_;
    const FieldMask mask_;  ///< of its fields
    const PartyPtr party_;  ///< null: without a selection
    Observer& observer_;
    // Changed on the strand only, under the mutex.
    Watches now_;
    Watches next_;              ///< take their place once they are as far
    std::size_t unsynced_ = 0;  ///< of now_
    bool told_ = false;         ///< something, since the last end of a batch
};

}  // namespace k8s_sd::inline v0::detail
