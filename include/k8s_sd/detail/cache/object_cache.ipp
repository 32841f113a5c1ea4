#include "k8s_sd/cache/object_cache.hpp"
#include "k8s_sd/cache/reference_sets.hpp"
#include "k8s_sd/detail/async/operation.hpp"
#include "k8s_sd/detail/cache/object_cache_impl.hpp"

#include <utility>

namespace k8s_sd::inline v0 {

// --- the cache -----------------------------------------------------------------------------------

ObjectCache::ObjectCache(executor_type executor, const ObjectCacheConfig& config) {
    detail::check_host_executor(executor, "ObjectCache");
    impl_ = std::make_shared<Impl>(std::move(executor), config);
}

ObjectCache& ObjectCache::operator=(ObjectCache&& other) noexcept {
    detail::take_over(impl_, other.impl_);
    return *this;
}

ObjectCache::~ObjectCache() { cancel(); }

ObjectCache::executor_type ObjectCache::get_executor() const noexcept { return impl_->executor(); }
ObjectCache::executor_type ObjectCache::executor_of(const Impl& impl) noexcept {
    return impl.executor();
}

ObjectCache::Reference ObjectCache::add_reference(std::string_view ns, std::string_view name) {
    impl_->check_name(ns, name);
    Reference reference(impl_, ns, name);
    impl_->add_reference(reference.ns(), reference.name());
    return reference;
}

void ObjectCache::read_again(std::string_view ns, std::string_view name) {
    impl_->read_again(std::string(ns), std::string(name));
}

void ObjectCache::read_again(const Reference& reference) {
    read_again(reference.ns(), reference.name());
}

void ObjectCache::get(const std::shared_ptr<Impl>& impl, std::string ns, std::string name,
                      asio::any_completion_handler<void(error_code, ObjectPtr)> handler) {
    impl->get(std::move(ns), std::move(name), std::move(handler));
}

ObjectCache::Subscription ObjectCache::subscribe(std::string_view ns, std::string_view name,
                                                 Callback callback) {
    detail::check_callback(callback, "ObjectCache::subscribe()");
    Reference reference = add_reference(ns, name);
    auto follower = std::make_shared<detail::CacheFollower>(std::move(callback));
    impl_->follow(reference.ns(), reference.name(), follower);
    return {std::move(reference), std::move(follower)};
}

void ObjectCache::cancel() noexcept {
    if (impl_) impl_->cancel();
}

ObjectCacheStatus ObjectCache::status() const { return impl_->status(); }
std::optional<CachedObjectStatus> ObjectCache::status(std::string_view ns,
                                                      std::string_view name) const {
    return impl_->status(ns, name);
}

// --- references and subscriptions ----------------------------------------------------------------

ObjectCache::Reference& ObjectCache::Reference::operator=(Reference&& other) noexcept {
    if (this != &other) {
        reset();
        impl_ = std::move(other.impl_);
        ns_ = std::move(other.ns_);
        name_ = std::move(other.name_);
    }
    return *this;
}

void ObjectCache::Reference::reset() noexcept {
    if (const auto impl = std::exchange(impl_, {}).lock()) {
        impl->remove_reference(std::move(ns_), std::move(name_));
    }
}

ObjectCache::Subscription& ObjectCache::Subscription::operator=(Subscription&& other) noexcept {
    if (this != &other) {
        reset();
        reference_ = std::move(other.reference_);
        follower_ = std::move(other.follower_);
    }
    return *this;
}

void ObjectCache::Subscription::reset() noexcept {
    if (!follower_) return;
    follower_->cancelled = true;
    if (const auto impl = reference_.impl_.lock()) {
        impl->unfollow(reference_.ns(), reference_.name(), std::move(follower_));
    }
    follower_ = nullptr;
    reference_.reset();
}

void ReferenceSets::set(std::string_view key, const std::set<ObjectName>& objects) {
    References references;
    const std::lock_guard lock(mutex_);
    const auto known = sets_.find(key);
    // Add all new references first: if a name is invalid, nothing has changed.
    for (const ObjectName& object : objects) {
        if (known != sets_.end() && known->second.contains(object)) continue;
        references.emplace(object, cache_.add_reference(object.ns, object.name));
    }
    if (known == sets_.end()) {
        sets_.emplace(key, std::move(references));
        return;
    }
    for (auto& [object, reference] : known->second) {
        if (objects.contains(object)) references.emplace(object, std::move(reference));
    }
    known->second = std::move(references);
}

void ReferenceSets::erase(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto known = sets_.find(key);
    if (known != sets_.end()) sets_.erase(known);
}

std::size_t ReferenceSets::size() const {
    const std::lock_guard lock(mutex_);
    return sets_.size();
}

std::set<ObjectName> ReferenceSets::objects_of(std::string_view key) const {
    std::set<ObjectName> objects;
    const std::lock_guard lock(mutex_);
    const auto known = sets_.find(key);
    if (known == sets_.end()) return objects;
    for (const auto& [object, reference] : known->second) objects.insert(object);
    return objects;
}

}  // namespace k8s_sd::inline v0
