#pragma once

#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/watch/watch_subject.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/url_watcher.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace k8s_sd::inline v0::detail {

/// Settings shared by all watches of an ObjectCache.
struct CacheWatchSetup {
    std::shared_ptr<ApiClient> client;
    std::shared_ptr<ObjectMaker> maker;
    std::shared_ptr<Metrics> metrics;
    Kind kind = Kind::secret;
    std::shared_ptr<const WatchOptions> options;
};

/// A watch of one object, or of all objects of a namespace. Owned by the objects it serves. May be
/// released while it calls its observer.
class CacheWatch final : public std::enable_shared_from_this<CacheWatch>, private WatchObserver {
 public:
    /// Outlives its watches.
    class Observer {
     public:
        /// `after` is the present state. Called after the first sync only.
        virtual void on_object(CacheWatch&, std::string_view name, const ObjectPtr& after) = 0;
        virtual void on_synced(CacheWatch&) = 0;
        virtual void on_status(CacheWatch&) = 0;
        /// Whether the watch should store the object: a collection drops all others.
        virtual bool wants(const CacheWatch&, std::string_view name) = 0;

     protected:
        ~Observer() = default;
    };

    /// \param setup  of the namespace
    /// \param name  empty: the collection
    CacheWatch(Observer&, std::shared_ptr<ApiClient>, std::shared_ptr<const WatchSetup> setup,
               SharedText name);
    CacheWatch(const CacheWatch&) = delete;
    CacheWatch& operator=(const CacheWatch&) = delete;
    ~CacheWatch();

    void start();
    bool of_collection() const noexcept { return name().empty(); }
    /// Of the object; empty: the collection.
    std::string_view name() const noexcept;
    bool synced() const noexcept { return watcher_.synced(); }
    error_code error() const { return watcher_.status().error; }
    ObjectPtr find(std::string_view name) const { return watcher_.find(ns(), name); }
    /// The object exists, but its content is unknown.
    bool hides(std::string_view name) const { return watcher_.is_unread(ns(), name); }
    /// The object is no longer served by this watch.
    void forget(std::string_view name) { watcher_.forget(ns(), name); }

    /// The error of this watch for the cache's status(); guarded by the observer.
    struct Trouble {
        error_code error;
        std::string message;
        unsigned failures = 0;  ///< in a row
        bool hides = false;     ///< an object was unreadable since the last time without an error
    };
    struct News {
        bool failed = false;    ///< an attempt has failed
        bool revealed = false;  ///< an oversized object may have become readable
    };
    /// \returns the changes since the last call
    News publish() {
        WatchStatus status = watcher_.status();
        const Trouble before = trouble();
        const News news{status.error && status.failures != before.failures,
                        before.hides && status.message != before.message};
        // The error of a request takes the place of that about an object.
        const bool hides = before.hides || status.error == errc::object_too_large ||
                           status.error == errc::bad_object;
        trouble_.reset();
        if (status.error)
            trouble_ = Trouble{status.error, std::move(status.message), status.failures, hides};
        return news;
    }
    Trouble trouble() const { return trouble_ ? *trouble_ : Trouble{}; }

 private:
    void on_change(const ObjectChange&) override;
    void on_synced() override;
    void on_batch_end() override {}
    void on_status() override;
    bool wants(std::string_view ns, std::string_view name) override;
    std::string_view ns() const noexcept;

    Observer& observer_;
    URLWatcher watcher_;
    Rare<Trouble> trouble_;
};

}  // namespace k8s_sd::inline v0::detail
