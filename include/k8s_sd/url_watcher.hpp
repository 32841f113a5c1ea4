#pragma once

#include "k8s_sd/api_client.hpp"
#include "k8s_sd/detail/base/abi.hpp"
#include "k8s_sd/object.hpp"
#include "k8s_sd/status.hpp"
#include "k8s_sd/watch_query.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace k8s_sd::inline v0 {

namespace detail {
struct DecodedObject;
struct ObjectForm;
struct ObjectMaker;
class URLWatcherImpl;
}  // namespace detail

/// Where a URLWatcher reports. Called on its executor.
class WatchObserver {
 public:
    /// Only objects of which something that reaches a label has changed are reported. Until
    /// on_synced() the changes make up the first state and are not complete.
    virtual void on_change(const ObjectChange&) = 0;
    /// The first list is complete. Called once.
    virtual void on_synced() = 0;
    /// All changes that arrived together were reported.
    virtual void on_batch_end() = 0;
    /// status() has changed in more than the number of objects.
    virtual void on_status() = 0;
    /// Whether to keep the object of that name. An unwanted object is dropped once it is decoded,
    /// as if the server did not have it.
    virtual bool wants(std::string_view /*ns*/, std::string_view /*name*/) { return true; }
    /// A number that the object is kept with, see detail::ObjectAudience; nothing: the object as it
    /// is now is unwanted. Asked for objects that are wanted by name.
    virtual std::optional<std::uint16_t> audience_of(const detail::DecodedObject&) { return 0; }
    /// The object was made that audience_of() has just given the number of those kept apart.
    virtual void keep_apart(const ObjectPtr&) {}
    /// Whether the observer makes up for a failure. Then it has dropped the watcher in this call,
    /// and nobody is told of the failure.
    virtual bool makes_up_for(error_code /*failure*/) { return false; }
    // None of these may throw.

 protected:
    ~WatchObserver() = default;
};

/// LIST+WATCH of one URL into one object store. It never gives up, whatever the server or the
/// network does: watches resume from the last version seen, it lists again where they may have
/// missed something (ListReason), and a list brings the true differences only. Objects are never
/// dropped because of an error.
///
/// \par Thread safety  all members must be called on the client's executor.
class K8S_SD_EXPORT URLWatcher {
 public:
    /// The observer must outlive the watcher. Nothing happens before start().
    /// \throws ConfigError for a namespace that cannot be one
    URLWatcher(std::shared_ptr<ApiClient>, WatchQuery, const WatchOptions&, WatchObserver&);
    /// For watchers that share label blocks, see GroupWatcher.
    URLWatcher(std::shared_ptr<ApiClient>, WatchQuery, const WatchOptions&, WatchObserver&,
               std::shared_ptr<detail::ObjectMaker>,
               std::shared_ptr<const detail::ObjectForm> = nullptr);
    URLWatcher(const URLWatcher&) = delete;
    URLWatcher& operator=(const URLWatcher&) = delete;
    /// Stops; the observer is not called again.
    ~URLWatcher();

    /// Begins to list. Further calls do nothing.
    void start();
    /// Whether the first list is complete.
    bool synced() const noexcept;
    /// Whether the last complete list is of the server that the client leads to now: a kubeconfig
    /// may name another one since.
    bool knows_present_server() const noexcept;
    /// A copy of the present status.
    WatchStatus status() const;
    /// The object of that name, or null. `ns` is empty for kinds without namespaces.
    const Object* find(std::string_view ns, std::string_view name) const;
    /// Whether the server has an object of that name in a state that cannot be read, such as one
    /// beyond WatchOptions::max_object_bytes. find() gives the last state, or null if there is
    /// none.
    bool is_unread(std::string_view ns, std::string_view name) const;
    /// Number of objects.
    std::size_t size() const noexcept;
    /// Drops an object that is no longer wanted; not reported.
    void forget(std::string_view ns, std::string_view name);
    /// Takes over an object that another watcher has listed, before start(); not reported. It is
    /// the state until the first list says otherwise.
    void adopt(ObjectPtr object);
    /// Calls the function for each object, in no particular order.
    void for_each(const std::function<void(const ObjectPtr&)>&) const;
    /// The same for the objects of a list that has not stated its kind yet.
    void for_each_pending(const std::function<void(const ObjectPtr&)>&) const;

 private:
    std::shared_ptr<detail::URLWatcherImpl> impl_;
};

}  // namespace k8s_sd::inline v0
