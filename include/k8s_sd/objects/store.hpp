#pragma once

#include "k8s_sd/detail/stores/store_core.hpp"
#include "k8s_sd/error.hpp"
#include "k8s_sd/objects/store_keys.hpp"
#include "k8s_sd/time.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0 {

namespace asio = boost::asio;

template <class T>
class Store;
template <class T>
class StoreWriter;

/// One generation of a Store: look-ups are consistent with each other, regardless of later writes.
/// Keeps the objects of its generation alive; unchanged objects are shared with later generations.
/// A copy costs one counter. Thread-safe.
template <class T>
class Snapshot {
 public:
    /// Shared ownership of an immutable object, see StoreTraits.
    using Ptr = typename StoreTraits<T>::Ptr;
    /// The key of an object, see StoreTraits.
    using Key = typename StoreTraits<T>::Key;

    /// The object; null if there is none. The reference is valid as long as the snapshot, without a
    /// change of the reference count. See Store::find().
    template <class... Parts>
    const Ptr& find(const Parts&... key) const& noexcept {
        const Ptr* object = state_->find(Key{key...});
        return object ? *object : nothing();
    }
    /// The same for a temporary snapshot: counts a reference, so the object outlives the snapshot.
    template <class... Parts>
    Ptr find(const Parts&... key) const&& noexcept {
        return find(key...);
    }
    /// Number of objects.
    std::size_t size() const noexcept { return state_->size; }
    /// Calls `visit(const Ptr&)` for each object, in no particular order.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        state_->objects.for_each([&](const auto& element) { visit(element.object); });
    }
    /// See Store::generation().
    std::uint64_t generation() const noexcept { return state_->generation; }
    /// See Store::synced().
    bool synced() const noexcept { return state_->synced; }

 private:
    friend Store<T>;
    template <class>
    friend class Index;
    using State = detail::StoreState<T>;

    explicit Snapshot(boost::intrusive_ptr<const State> state) noexcept
        : state_(std::move(state)) {}
    static const Ptr& nothing() noexcept {
        static const Ptr null;
        return null;
    }

    boost::intrusive_ptr<const State> state_;
};

/// Finds the objects of a Store by other keys than their own: see Store::index(). A handle; may be
/// copied, and keeps the store's contents alive. All members may be called from any thread, and
/// never wait.
template <class T>
class Index {
 public:
    /// Shared ownership of an immutable object, see StoreTraits.
    using Ptr = typename StoreTraits<T>::Ptr;

    /// Any object with this key; null if there is none.
    Ptr find(std::string_view key) const {
        return core_->states().read([&](const State& state) { return find_in(state, key); });
    }
    /// Calls `visit(const T&)` with the result of find(), without a change of its reference count.
    /// \returns whether there is one; see Store::visit()
    template <class Visitor>
    bool visit(std::string_view key, Visitor&& visit) const {
        return core_->states().read([&](const State& state) {
            const Ptr* object = index_of(state).find(key);
            if (object) visit(**object);
            return object != nullptr;
        });
    }
    /// All objects with this key, in no particular order.
    std::vector<Ptr> all(std::string_view key) const { return all_in(*core_->states().get(), key); }
    /// Calls `visit(const Ptr&)` for each object with this key, of one generation.
    template <class Visitor>
    void for_each(std::string_view key, Visitor&& visit) const {
        index_of(*core_->states().get()).for_each(key, visit);
    }

    /// Any object with this key in a snapshot of this index's store; null if there is none. A
    /// snapshot older than the index has no keys, here and below.
    Ptr find(const Snapshot<T>& snapshot, std::string_view key) const {
        return find_in(*snapshot.state_, key);
    }
    /// All objects of the snapshot with this key, in no particular order.
    std::vector<Ptr> all(const Snapshot<T>& snapshot, std::string_view key) const {
        return all_in(*snapshot.state_, key);
    }
    /// Calls `visit(const Ptr&)` for each object of the snapshot with this key.
    template <class Visitor>
    void for_each(const Snapshot<T>& snapshot, std::string_view key, Visitor&& visit) const {
        index_of(*snapshot.state_).for_each(key, visit);
    }

 private:
    friend Store<T>;
    using Core = detail::StoreCore<T>;
    using State = detail::StoreState<T>;

    Index(std::shared_ptr<const Core> core, std::size_t place) noexcept
        : core_(std::move(core)), place_(place) {}

    const detail::StoreIndex<T>& index_of(const State& state) const noexcept {
        static const detail::StoreIndex<T> none;
        return place_ < state.indexes.size() ? state.indexes[place_] : none;
    }
    Ptr find_in(const State& state, std::string_view key) const {
        const Ptr* object = index_of(state).find(key);
        return object ? *object : nullptr;
    }
    std::vector<Ptr> all_in(const State& state, std::string_view key) const {
        std::vector<Ptr> objects;
        index_of(state).for_each(key, [&](const Ptr& object) { objects.push_back(object); });
        return objects;
    }

    std::shared_ptr<const Core> core_;
    std::size_t place_;
};

/// The current objects of one type, readable from any thread, filled through a StoreWriter.
///
/// Readers never wait, and never delay the writer. Writes become visible in batches, each of them a
/// new generation. A generation shares all unchanged objects, and nearly all of its tables, with
/// its predecessor.
///
/// \par Object lifetimes
/// A handle; copies are the same store. Its contents live as long as a handle, an Index or a
/// writer. Objects live as long as a pointer to them.
///
/// \par Thread safety
/// All members of a handle may be called from any thread, and do not wait, except index().
/// Assignment and destruction of a handle must not overlap with other calls of that handle.
template <class T>
class Store {
 public:
    /// Shared ownership of an immutable object, see StoreTraits.
    using Ptr = typename StoreTraits<T>::Ptr;
    /// The key of an object, see StoreTraits.
    using Key = typename StoreTraits<T>::Key;

    /// An empty store, not synced.
    Store() : core_(std::make_shared<Core>()) {}

    /// The object of a key, or of the parts of a key: find(ns, name), find(name) for kinds without
    /// namespaces; null if there is none. Counts a reference: if many threads look up the same
    /// object, they contend for its counter; visit() avoids that.
    template <class... Parts>
    Ptr find(const Parts&... key) const {
        return core_->states().read([&](const State& state) {
            const Ptr* object = state.find(Key{key...});
            return object ? *object : Ptr();
        });
    }
    /// Calls `visit(const T&)` with the object of a key, without a change of its reference count.
    /// Objects replaced meanwhile are released only after `visit` returns, so it should be short.
    /// It may use the store.
    /// \returns whether the object exists
    template <class Visitor>
    bool visit(const Key& key, Visitor&& visit) const {
        return core_->states().read([&](const State& state) {
            const Ptr* object = state.find(key);
            if (object) visit(**object);
            return object != nullptr;
        });
    }
    /// The latest generation, in constant time. A snapshot keeps its objects alive.
    Snapshot<T> snapshot() const { return Snapshot<T>(core_->states().get()); }
    /// Calls `visit(const Ptr&)` for each object of one generation, in no particular order.
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        snapshot().for_each(visit);
    }
    /// Number of objects.
    std::size_t size() const noexcept {
        return core_->states().read([](const State& state) { return state.size; });
    }
    /// Number of batches with changes, including the first batch. 0: nothing was written yet.
    std::uint64_t generation() const noexcept {
        return core_->states().read([](const State& state) { return state.generation; });
    }
    /// Whether there has been a complete state, even an empty one. Stays true.
    bool synced() const noexcept {
        return core_->states().read([](const State& state) { return state.synced; });
    }
    /// Time of the writer's last contact with the origin of the objects; nullopt: none, or not
    /// reported by the writer.
    std::optional<TimePoint> last_contact() const noexcept { return core_->last_contact(); }

    /// Declares an index. `keys` returns the keys of an object, as views of the object: either
    /// `std::string_view keys(const T&)`, with an empty one for none, or
    /// `void keys(const T&, IndexKeys&)`. The writer calls it, one call at a time; it must always
    /// return the same keys for an object, and must not use the store. Several objects may have the
    /// same key.
    ///
    /// Best called before the store is filled; later it visits each object, and waits for the end
    /// of a batch in progress.
    template <class Function>
    Index<T> index(Function keys) {
        if constexpr (std::invocable<Function&, const T&, IndexKeys&>) {
            return Index<T>(core_, core_->add_index(std::move(keys)));
        } else {
            using Result = std::invoke_result_t<Function&, const T&>;
            static_assert(std::same_as<Result, std::string_view> || std::is_reference_v<Result>,
                          "the key must be a view of the object, not a copy");
            return Index<T>(core_, core_->add_index([f = std::move(keys)](const T& object,
                                                                          IndexKeys& out) mutable {
                out.add(std::string_view(f(object)));
            }));
        }
    }

    /// Waits for the first complete state. Any number of waits may be pending.
    /// \param executor  used if the handler has no associated executor; the store has none
    /// \par Handler signature  `void(error_code)`
    /// \par Errors             asio::error::operation_aborted after the wait was cancelled, the
    ///                         writer was stopped or the store was destroyed
    /// \par Executor           the handler's associated one, else `executor`; as if by post. A
    ///                         pending wait keeps it busy, and must end before its context does.
    /// \par Per-operation cancellation  terminal and partial
    template <class CompletionToken = asio::deferred_t>
    auto async_wait_synced(asio::any_io_executor executor,
                           CompletionToken&& token = CompletionToken{}) const {
        return asio::async_initiate<CompletionToken, void(error_code)>(
            InitiateWait(core_->waits(), std::move(executor)), token);
    }

    /// Whether both are handles of the same store.
    friend bool operator==(const Store&, const Store&) = default;

 private:
    friend StoreWriter<T>;
    using Core = detail::StoreCore<T>;
    using State = detail::StoreState<T>;

    // A class with a constructor, as in Discoverer.
    class InitiateWait {
     public:
        using executor_type = asio::any_io_executor;
        InitiateWait(std::shared_ptr<detail::SyncWaits> waits, executor_type executor)
            : waits_(std::move(waits)), executor_(std::move(executor)) {}
        executor_type get_executor() const noexcept { return executor_; }
        template <class Handler>
        void operator()(Handler&& handler) const {
            waits_->add(detail::SyncWaits::Handler(std::forward<Handler>(handler)), executor_);
        }

     private:
        std::shared_ptr<detail::SyncWaits> waits_;
        executor_type executor_;
    };

    std::shared_ptr<Core> core_;
};

}  // namespace k8s_sd::inline v0
