#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/random.hpp"
#include "k8s_sd/detail/groups/kind_view.hpp"
#include "k8s_sd/detail/groups/object_audiences.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/net/api_client_impl.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The watches of one kind on one server, for all views of it: what plan_watches() says. It is
/// planned anew whenever views have come or gone, for all of them together.
///
/// A view that has something complete keeps it, and goes on to be told of it, until the watches
/// that shall take its place are complete as well and at least as new. Strand-confined.
class KindWatches final : public std::enable_shared_from_this<KindWatches>, private ServerUser {
 public:
    /// What the watches of all kinds of a server have in common.
    struct Common {
        WatchOptions options;
        std::shared_ptr<ApiClient> client;
        mutable std::mutex mutex;  ///< of what can be asked for on any thread
    };

    KindWatches(Kind kind, std::shared_ptr<const Common> common,
                std::shared_ptr<ObjectMaker> maker);

    /// The configuration was applied again: a refusal ends when it is a minute old.
    void look_again();

 private:
    friend class KindView;
    friend class SharedWatch;
    using Watches = KindView::Watches;
    using SharedWatchPtr = std::shared_ptr<SharedWatch>;

    void add(KindView&);
    void remove(KindView&);
    PartyPtr party_of(const WantedObjects&);

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
    TimePoint now() const { return common_->client->impl().environment.clock->now(); }
    bool has_several_shares() const;
    bool server_shards() const;
    void on_more_than_share();
    void log_refusal(const SharedWatch&, error_code why) const;
    void on_too_many_audiences();
    bool may_select_here() const;

    const Kind kind_;
    const std::shared_ptr<const Common> common_;
    const std::shared_ptr<ObjectMaker> maker_;
    std::vector<KindView*> views_;
    std::vector<std::weak_ptr<SharedWatch>> running_;
    using Selected = std::tuple<std::string, std::string, ObjectShare>;  ///< with two selectors
    std::map<Selected, std::weak_ptr<const Party>> parties_;
    ObjectAudiences audiences_;
    RefusedWatches refused_;  ///< by the server that the client leads to
    Random random_;
    std::unique_ptr<Timer> timer_;     ///< of the next refusal that ends; null: none ever was
    std::size_t waiting_ = 0;          ///< views that have something next
    bool too_many_audiences_ = false;  ///< the server selects, see on_too_many_audiences()
    /// Shares of a server that does not shard have one watch: also the last one that is left of
    /// them, for which it would have to list everything again.
    bool shares_in_one_ = false;
    bool plan_posted_ = false;
};

}  // namespace k8s_sd::inline v0::detail
