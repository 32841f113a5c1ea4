#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/detail/base/access.hpp"
#include "k8s_sd/objects/object.hpp"
#include "k8s_sd/selector.hpp"
#include "k8s_sd/status.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

namespace k8s_sd::inline v0 {

namespace detail {
class TaggingObserver;
class URLWatcherImpl;
class WatchSubject;
}  // namespace detail

/// Receives the events of a URLWatcher. Called on its executor.
class WatchObserver {
 public:
    /// A change of an object's labels; other changes are not reported. Until on_synced() the
    /// changes make up the initial, incomplete state.
    virtual void on_change(const ObjectChange&) = 0;
    /// The first list is complete. Called once.
    virtual void on_synced() = 0;
    /// Called after all changes of one read have been reported.
    virtual void on_batch_end() = 0;
    /// A change of status() in more than the number of objects.
    virtual void on_status() = 0;
    /// Whether to keep the object of this name. Any other object is dropped once decoded, as if the
    /// server did not have it.
    virtual bool wants(std::string_view /*ns*/, std::string_view /*name*/) { return true; }
    /// Whether the observer compensates for a failure. If so, it has dropped the watcher in this
    /// call, and the failure is not reported anywhere.
    virtual bool makes_up_for(error_code /*failure*/) { return false; }
    // An exception leaves run() of the context. After one of on_change() or wants() the response
    // is read no further, and a later request brings the change again. After any other one the
    // watch goes on, and the call is not repeated.

 protected:
    ~WatchObserver() = default;
};

/// LIST+WATCH of one URL into one object store. It retries without limit after failures of the
/// server or the network: watches resume from the last seen version, it lists again if they may
/// have missed something (ListReason), and a list reports the true differences only. Errors never
/// remove objects.
///
/// \par Thread safety  all members must be called on the client's executor.
class K8S_SD_EXPORT URLWatcher {
 public:
    /// The observer must outlive the watcher. Does nothing before start().
    /// \throws ConfigError for an invalid namespace
    URLWatcher(std::shared_ptr<ApiClient>, WatchQuery, const WatchOptions&, WatchObserver&);
    URLWatcher(const URLWatcher&) = delete;
    URLWatcher& operator=(const URLWatcher&) = delete;
    /// Stops; the observer is not called again.
    ~URLWatcher();

    /// Starts to list. Further calls do nothing.
    void start();
    /// Whether the first list is complete.
    bool synced() const noexcept;
    /// Whether the last complete list came from the client's current server: the kubeconfig may
    /// have changed to another one since.
    bool knows_present_server() const noexcept;
    /// A copy of the current status.
    WatchStatus status() const;
    /// The object of this name, or null. `ns` is empty for kinds without namespaces.
    const Object* find(std::string_view ns, std::string_view name) const;
    /// Whether the server has an object of this name in an unreadable state, such as one beyond
    /// WatchOptions::max_object_bytes. find() returns the last readable state, or null without one.
    bool is_unread(std::string_view ns, std::string_view name) const;
    /// Number of objects.
    std::size_t size() const noexcept;
    /// Drops an object the observer no longer wants; not reported.
    void forget(std::string_view ns, std::string_view name);
    /// Takes over an object listed by another watcher, before start(); not reported. The object
    /// stays until the first list says otherwise.
    void adopt(ObjectPtr object);
    /// Calls the function for each object, in no particular order.
    void for_each(const std::function<void(const ObjectPtr&)>&) const;
    /// The same for the objects of a list without a known kind yet.
    void for_each_pending(const std::function<void(const ObjectPtr&)>&) const;

 private:
    friend struct detail::Access;

    URLWatcher(std::shared_ptr<ApiClient>, detail::WatchSubject, WatchObserver&,
               detail::TaggingObserver*);

    std::shared_ptr<detail::URLWatcherImpl> impl_;
};

}  // namespace k8s_sd::inline v0
