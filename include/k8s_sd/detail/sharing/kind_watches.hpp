#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/async/strand.hpp"
#include "k8s_sd/detail/base/backoff.hpp"
#include "k8s_sd/detail/client/api_client_impl.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/sharing/kind_view.hpp"
#include "k8s_sd/detail/sharing/matching_views.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The watches of one kind on one server for all its views, as plan_watches() decides. Each new or
/// removed view leads to a new plan for all views.
///
/// A synced view keeps its watches until the replacements have synced to at least the same resource
/// version. Strand-confined.
class KindWatches final : public std::enable_shared_from_this<KindWatches>, private ServerUser {
 public:
    /// Shared by the watches of all kinds of a server.
    struct Common {
        WatchOptions options;
        std::shared_ptr<ApiClient> client;
        mutable std::mutex mutex;  ///< guards all state read on other threads
    };

    KindWatches(Kind kind, std::shared_ptr<const Common> common,
                std::shared_ptr<ObjectMaker> maker);

    /// The configuration was applied again: refusals older than a minute end.
    void recheck();

 private:
    friend class KindView;
    friend class SharedWatch;
    using Watches = KindView::Watches;
    using SharedWatchPtr = std::shared_ptr<SharedWatch>;

    void add(KindView&);
    void remove(KindView&);
    SharedSelectionPtr selection_of(const WantedObjects&);

    void plan_soon();
    void plan(const SharedWatch* failing);
    bool is_selected_here(const Selection&) const;
    bool is_selected_here(const WantedObjects&) const;
    SharedWatchPtr find_watch(const WatchQuery&, const std::vector<KindView*>& views) const;
    std::shared_ptr<const ObjectForm> form_for(const std::vector<KindView*>& views) const;
    SharedWatchPtr make_watch(const WatchQuery&, const std::vector<KindView*>& views,
                              const SharedWatch* failing);
    void assign(KindView&, Watches);
    void drop_next(KindView&);
    void switch_views();
    bool is_ready(const KindView&) const;
    void switch_to_next(KindView&);

    bool refuse(SharedWatch&, error_code why);
    void on_server_change() override;
    void set_timer();
    TimePoint now() const { return impl_of(*common_->client).environment.clock->now(); }
    bool has_several_shares() const;
    bool server_shards() const;
    void on_more_than_share();
    void log_refusal(const SharedWatch&, error_code why) const;
    void on_too_many_view_sets();
    bool may_select_here() const;

    const Kind kind_;
    const std::shared_ptr<const Common> common_;
    const std::shared_ptr<ObjectMaker> maker_;
    std::vector<KindView*> views_;
    std::vector<std::weak_ptr<SharedWatch>> running_;
    using Selected = std::tuple<std::string, std::string, ObjectShare>;  ///< with two selectors
    std::map<Selected, std::weak_ptr<const SharedSelection>> selections_;
    MatchingViews matching_views_;
    RefusedWatches refused_;  ///< by the client's current server
    Random random_;
    std::unique_ptr<Timer> timer_;     ///< expiry of the next refusal; null: there was none so far
    std::size_t waiting_ = 0;          ///< views with pending replacements
    bool too_many_view_sets_ = false;  ///< select on the server, see on_too_many_view_sets()
    /// All shares use one watch, because the server does not shard. The last remaining share keeps
    /// it: a new watch would have to list everything again.
    bool shares_in_one_ = false;
    PostedCall next_plan_;
};

}  // namespace k8s_sd::inline v0::detail
