#pragma once

#include "k8s_sd/cache/object_cache_status.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/base/hash.hpp"
#include "k8s_sd/detail/base/rare.hpp"
#include "k8s_sd/detail/base/shared_text.hpp"
#include "k8s_sd/detail/cache/cache_watch.hpp"
#include "k8s_sd/objects/data_object.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

/// The state of one object in an ObjectCache.
namespace k8s_sd::inline v0::detail {

class CacheNamespace;

/// A pending async_get().
class CacheGet : public std::enable_shared_from_this<CacheGet> {
 public:
    using Get = Operation<ObjectPtr>;

    /// \param abort  called on any thread when the operation is cancelled through its slot
    CacheGet(std::string of_ns, std::string of_name,
             std::function<void(std::shared_ptr<CacheGet>)> abort)
        : ns(std::move(of_ns)), name(std::move(of_name)), abort_(std::move(abort)) {}
    void begin(Get::Handler handler, const asio::any_io_executor& host) {
        operation_ = std::make_unique<Get>(std::move(handler), host, weak_from_this());
    }
    void cancel() { abort_(shared_from_this()); }
    /// Only the first call has an effect.
    void complete(error_code ec, ObjectPtr object = {}) {
        timer.reset();
        if (operation_) Get::complete(std::move(operation_), ec, std::move(object));
    }

    const std::string ns, name;
    std::unique_ptr<Timer> timer;

 private:
    std::function<void(std::shared_ptr<CacheGet>)> abort_;
    std::unique_ptr<Get> operation_;
};

/// One subscribe().
class CacheFollower {
 public:
    using Callback = std::function<void(const ObjectPtr&)>;

    explicit CacheFollower(Callback c) : callback(std::move(c)) {}

    const Callback callback;
    std::atomic<bool> cancelled = false;

    // Guarded by the cache's mutex: the next value to deliver.
    ObjectPtr newest;
    bool queued = false;

    // On the delivery strand: the last delivered value.
    ObjectPtr delivered;
    bool has_delivered = false;
};

/// A referenced object. Belongs to the strand; members read by status() change under the cache's
/// mutex.
struct CacheEntry {
    CacheEntry(CacheNamespace& objects, std::string_view of_name, TimePoint now)
        : home(objects), name(of_name), last_read(now) {}

    // Null stands for an absent object.
    static bool same(const ObjectPtr& a, const ObjectPtr& b) {
        return a == b || (a && b && a->same_uid(*b) && a->same_content(*b));
    }
    /// `value` is the state known from the server; null if the object is absent.
    bool synced() const noexcept {
        return state != CachedState::unsynced && state != CachedState::idle;
    }
    /// The object is marked immutable. CachedState::immutable additionally means that it has been
    /// read and is no longer watched.
    bool is_immutable() const noexcept {
        const DataObjectPtr data = as_data_object(value);
        return data && data->immutable();
    }
    bool needs_watch() const noexcept {
        return state != CachedState::immutable && state != CachedState::idle;
    }
    bool has_watch(const CacheWatch& w) const noexcept {
        return watch.get() == &w || next.get() == &w;
    }
    /// Reads must wait: for the first response of the server, or for the next one if the value is
    /// doubted. If the server fails, a doubted value is returned without waiting.
    bool is_awaited() const { return !synced() || (doubted && !(watch && watch->error())); }
    /// No state of the object is known, and its only watch is forbidden.
    bool is_denied() const {
        return !synced() && !next && watch && watch->error() == errc::forbidden;
    }

    CacheNamespace& home;
    const SharedText name;
    ObjectPtr value;
    std::uint32_t references = 0;
    CachedState state = CachedState::unsynced;
    bool overdue = false;   // both watches are synced, and have disagreed for a while
    bool was_read = false;  // the value was returned to the host
    bool doubted = false;   // the value was immutable; the object is being read again
    TimePoint last_read;
    TimePoint read_at{};  // when an immutable value was last read from the server

    std::shared_ptr<CacheWatch> watch;  // the source of the value
    std::shared_ptr<CacheWatch> next;   // its designated replacement
    RareList<std::shared_ptr<CacheGet>> gets;
    RareList<std::shared_ptr<CacheFollower>> followers;
};

/// A set of entries by name: unlike a map, it stores each name only once.
struct CacheEntryHash {
    using is_transparent = void;
    using is_avalanching = void;
    std::size_t operator()(std::string_view name) const noexcept { return seeded_hash(name); }
    std::size_t operator()(const std::unique_ptr<CacheEntry>& entry) const noexcept {
        return (*this)(entry->name);
    }
};
struct CacheEntryEqual {
    using is_transparent = void;
    static std::string_view name(std::string_view text) noexcept { return text; }
    static std::string_view name(const std::unique_ptr<CacheEntry>& e) noexcept { return e->name; }
    template <class A, class B>
    bool operator()(const A& a, const B& b) const noexcept {
        return name(a) == name(b);
    }
};
using CacheEntrySet =
    boost::unordered_flat_set<std::unique_ptr<CacheEntry>, CacheEntryHash, CacheEntryEqual>;

}  // namespace k8s_sd::inline v0::detail
