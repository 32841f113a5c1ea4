#pragma once

#include "k8s_sd/detail/base/audience.hpp"
#include "k8s_sd/detail/groups/kind_view.hpp"
#include "k8s_sd/detail/kinds/object_form.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// A URLWatcher for some views, with its status for any thread. Keeps what at least one of them
/// wants, and nothing else. Strand-confined, except for published().
class SharedWatch final : public std::enable_shared_from_this<SharedWatch>, private WatchObserver {
 public:
    /// \param form  of the objects; null: for labels
    SharedWatch(KindWatches& owner, const WatchQuery& query,
                std::shared_ptr<const ObjectForm> form);

    const WatchQuery& query() const noexcept { return query_; }

    // Views have a seat each. One that is not active is kept for the view, which still sees what
    // it has seen before.
    void take_seat(KindView& view);
    void set_active(KindView& view);
    void leave_seat(KindView& view);
    bool has_seats() const noexcept;
    /// Calls the function for each object that it has or is about to have.
    void for_each_object(const std::function<void(const ObjectPtr&)>&) const;
    /// Drops what none of the views wants that are left.
    void forget_unwanted();
    /// Whether all that the view wants is kept, with its selection.
    bool serves(const KindView& view) const;
    /// Whether it is larger than what some view needs, which could do without.
    bool exceeds_a_need() const;

    /// Takes over, before start(), what a view sees elsewhere.
    void adopt_from(const KindView& view);
    /// What it has adopted is a complete state.
    void set_known() noexcept { known_ = true; }
    void start();

    /// A complete state is known.
    bool known() const noexcept { return known_; }
    const URLWatcher& watcher() const noexcept { return watcher_; }
    /// Under the mutex.
    const WatchStatus& published() const noexcept { return published_; }

 private:
    struct Seat {
        KindView* view;  ///< null: left while all were told of something
        bool active;
    };
    /// What some views want: objects of a party, in some namespaces.
    struct Cover {
        PartyPtr party;                       ///< null: all objects
        std::vector<std::string> namespaces;  ///< sorted; empty: all
        bool operator==(const Cover&) const = default;
    };

    void on_change(const ObjectChange&) override;
    void on_synced() override;
    void on_batch_end() override;
    void on_status() override;
    bool wants(std::string_view ns, std::string_view name) override;
    std::optional<std::uint16_t> audience_of(const DecodedObject&) override;
    void keep_apart(const ObjectPtr&) override;
    bool makes_up_for(error_code failure) override;

    template <class Call>
    void for_each_view(Call call, bool active_only);
    template <class Call>
    void for_each_active(Call call);
    bool has_form_for(const KindView&) const;
    Cover cover_of(const KindView&) const;
    void add_cover(const KindView&);
    void look_at(const DecodedObject&);
    bool is_wanted(std::string_view ns, const Audience&) const;
    bool is_refused(error_code failure);
    void publish();

    KindWatches& owner_;
    const WatchQuery query_;
    const std::shared_ptr<const ObjectForm> form_;
    std::vector<Seat> seats_;
    std::vector<Cover> covers_;
    std::vector<PartyPtr> parties_;  ///< of the covers
    Audience audience_;              ///< of the object that is looked at
    int telling_ = 0;
    bool known_ = false;  ///< the complete state was known once
    int refusals_ = 0;    ///< that followed another one
    URLWatcher watcher_;
    WatchStatus published_;
};

}  // namespace k8s_sd::inline v0::detail
