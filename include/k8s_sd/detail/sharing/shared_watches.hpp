#pragma once

#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/base/dialect_rules.hpp"
#include "k8s_sd/detail/base/weak_map.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/sharing/kind_view.hpp"
#include "k8s_sd/detail/sharing/kind_watches.hpp"
#include "k8s_sd/detail/sharing/matching_views.hpp"
#include "k8s_sd/detail/sharing/selection_index.hpp"
#include "k8s_sd/detail/sharing/subscribers.hpp"
#include "k8s_sd/detail/watch/tagging_observer.hpp"
#include "k8s_sd/environment.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// Views share watches only if these values are equal.
struct WatchedServer {
    ApiServerConfig api_server{};
    WatchOptions watch{};
    auto operator<=>(const WatchedServer&) const = default;
};

/// The watches of one server by kind, for all views. All run on one strand, so objects pass from
/// watches to views without locks. Strand-confined, except where noted.
class SharedWatches {
 public:
    SharedWatches(asio::any_io_executor strand, const WatchedServer& server,
                  const Environment& environment);
    SharedWatches(const SharedWatches&) = delete;
    SharedWatches& operator=(const SharedWatches&) = delete;

    const std::shared_ptr<KindWatches>& of(Kind kind, VersionedDialect dialect);
    /// The existing watches of the kind, of any dialect and version.
    const std::shared_ptr<KindWatches>& for_hosts(Kind kind);
    /// The configuration was applied again: refusals may be void, and the kubeconfig may have
    /// changed.
    void recheck();
    const std::shared_ptr<ApiClient>& client() const noexcept { return common_->client; }

    // Any thread.
    const asio::any_io_executor& strand() const noexcept { return strand_; }
    const Environment& environment() const noexcept { return environment_; }

 private:
    const asio::any_io_executor strand_;
    const Environment environment_;
    const std::shared_ptr<const KindWatches::Common> common_;
    std::map<VersionedDialect, std::shared_ptr<ObjectMaker>> makers_;
    std::map<std::pair<Kind, VersionedDialect>, std::shared_ptr<KindWatches>> kinds_;
};

/// Whether the stored objects of the kind are the same in all dialects. Other kinds store labels
/// per dialect, so each dialect needs its own watches.
constexpr bool is_same_in_all_dialects(Kind kind) noexcept {
    return kind == Kind::pod || kind == Kind::namespace_ || kind == Kind::replicaset ||
           kind == Kind::job;
}

/// The first dialect and version with the same stored objects of the kind.
VersionedDialect stored_dialect(Kind kind, VersionedDialect dialect);

/// The shared watches of one execution context. The registry holds weak references: views own the
/// watches.
class WatchRegistry final : public asio::execution_context::service {
 public:
    static asio::execution_context::id id;

    explicit WatchRegistry(asio::execution_context& context)
        : asio::execution_context::service(context) {}
    /// The shared watches of the executor's context, created on demand.
    static std::shared_ptr<SharedWatches> watches_on(const asio::any_io_executor&,
                                                     const WatchScope&);

 private:
    void shutdown() override {}
    std::shared_ptr<SharedWatches> watches_of(const asio::any_io_executor&, const WatchScope&);

    std::mutex mutex_;  // serializes watches_on(), so equal watches are created once
    WeakMap<WatchedServer, SharedWatches> servers_;
};

/// A URLWatcher shared by views, with its status for any thread. It stores the union of their
/// selections and nothing else. Strand-confined, except for published().
class SharedWatch final : public std::enable_shared_from_this<SharedWatch>,
                          private TaggingObserver {
 public:
    /// \param form  of the objects; null: for labels
    SharedWatch(KindWatches& owner, const WatchQuery& query,
                std::shared_ptr<const ObjectForm> form);

    const WatchQuery& query() const noexcept { return query_; }

    // Each view has a subscription. An inactive view keeps its earlier objects, but receives no
    // changes yet.
    void subscribe(KindView& view);
    void set_active(KindView& view);
    void unsubscribe(KindView& view);
    bool has_subscribers() const noexcept { return !subscribers_.empty(); }
    /// Visits all objects, and the ones adopted before the start.
    void for_each_object(const std::function<void(const ObjectPtr&)>&) const;
    /// Drops objects that no remaining view selects.
    void forget_unwanted();
    /// Whether the watch stores all objects of the view, and tracks its selection.
    bool serves(const KindView& view) const;
    /// Whether some view needs less, and could use a smaller watch.
    bool exceeds_a_need() const;

    /// Adopts the objects of a view before start().
    void adopt_from(const KindView& view);
    /// Marks the adopted objects as a complete state.
    void set_known() noexcept { known_ = true; }
    void start();
    /// Ends a pause after a failure whose reason may be gone.
    void end_pause();

    /// Whether a complete state is known.
    bool known() const noexcept { return known_; }
    const URLWatcher& watcher() const noexcept { return watcher_; }
    /// Requires the mutex.
    const WatchStatus& published() const noexcept { return published_; }

 private:
    /// A matcher: the objects of some views, by selection and namespaces.
    struct Matcher {
        SharedSelectionPtr selection;         ///< null: all objects
        std::vector<std::string> namespaces;  ///< sorted; empty: all
        bool operator==(const Matcher&) const = default;
    };

    void on_change(const ObjectChange&) override;
    void on_synced() override;
    void on_batch_end() override;
    void on_status() override;
    bool wants(std::string_view ns, std::string_view name) override;
    std::optional<std::uint16_t> tag_of(const DecodedObject&) override;
    void keep_apart(const ObjectPtr&) override;
    bool makes_up_for(error_code failure) override;

    bool has_form_for(const KindView&) const;
    Matcher matcher_of(const KindView&) const;
    void add_matcher(const KindView&);
    bool is_wanted(std::string_view ns, const ViewSet&) const;
    bool is_refused(error_code failure);
    void publish();

    KindWatches& owner_;
    const WatchQuery query_;
    const std::shared_ptr<const ObjectForm> form_;
    Subscribers<KindView> subscribers_;
    std::vector<Matcher> matchers_;
    SelectionIndex selections_;  ///< of the matchers
    ViewSet current_views_;      ///< of the current object
    bool known_ = false;         ///< a complete state was known before
    int refusals_ = 0;           ///< refusals in a row
    URLWatcher watcher_;
    WatchStatus published_;
};

}  // namespace k8s_sd::inline v0::detail
