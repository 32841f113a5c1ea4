#pragma once

#include "k8s_sd/cache/object_cache_status.hpp"
#include "k8s_sd/config.hpp"
#include "k8s_sd/data_object.hpp"
#include "k8s_sd/detail/base/operation.hpp"
#include "k8s_sd/detail/base/seeded_hash.hpp"
#include "k8s_sd/detail/cache/cache_watch.hpp"

#include <boost/unordered/unordered_flat_set.hpp>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What an ObjectCache keeps of each object.
namespace k8s_sd::inline v0::detail {

class CacheNamespace;

/// One async_get() while it waits.
class CacheGet : public std::enable_shared_from_this<CacheGet> {
 public:
    using Get = Operation<ObjectPtr>;

    /// \param abort  called on any thread when the operation is cancelled by its slot
    CacheGet(std::string of_ns, std::string of_name,
             std::function<void(std::shared_ptr<CacheGet>)> abort)
        : ns(std::move(of_ns)), name(std::move(of_name)), abort_(std::move(abort)) {}
    void begin(Get::Handler handler, const asio::any_io_executor& host) {
        operation_ = std::make_unique<Get>(std::move(handler), host, weak_from_this());
    }
    void cancel() { abort_(shared_from_this()); }
    /// Only the first call counts.
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

    // Guarded by the cache's mutex: what the host is to be told next.
    ObjectPtr newest;
    bool queued = false;

    // On the delivery strand: what it was told last.
    ObjectPtr told;
    bool has_told = false;
};

/// An object that somebody refers to. Belongs to the strand; what status() reads is changed under
/// the cache's mutex.
struct CacheEntry {
    CacheEntry(CacheNamespace& objects, std::string_view of_name, TimePoint now)
        : home(objects), name(of_name), last_read(now) {}

    // Null and "not there" are the same.
    static bool same(const ObjectPtr& a, const ObjectPtr& b) {
        return a == b || (a && b && a->same_uid(*b) && a->same_content(*b));
    }
    /// `value` is what the server has.
    bool synced() const noexcept {
        return state != CachedState::unsynced && state != CachedState::idle;
    }
    /// The value cannot change. Not the state `immutable`, which is that of such a value once it
    /// was read.
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
    /// Who reads it waits: for the first answer of the server, or for the next one if the value is
    /// doubted. A server that fails adds nothing to what is known.
    bool is_awaited() const { return !synced() || (doubted && !(watch && watch->error())); }
    /// Nothing is known of the object, and its only watch is forbidden.
    bool is_denied() const {
        return !synced() && !next && watch && watch->error() == errc::forbidden;
    }

    CacheNamespace& home;
    const std::string name;
    ObjectPtr value;
    std::uint32_t references = 0;
    CachedState state = CachedState::unsynced;
    bool overdue = false;   // of the watches: both are listed, and have disagreed for a while
    bool was_read = false;  // somebody was given the value
    bool doubted = false;   // the value was immutable; the object is read again
    TimePoint last_read;
    TimePoint looked_at{};  // when an immutable value was last read from the server

    std::shared_ptr<CacheWatch> watch;  // what the value comes from
    std::shared_ptr<CacheWatch> next;   // what is to take its place
    std::vector<std::shared_ptr<CacheGet>> gets;
    std::vector<std::shared_ptr<CacheFollower>> followers;
};

/// Entries by name, without a pointer more for each than is needed.
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
