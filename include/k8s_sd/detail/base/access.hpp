#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// The library's own way to the private members of its public classes: their one friend. Not for
/// hosts.
struct Access {
    // Objects by a private constructor.
    template <class T, class... Arguments>
    static T make(Arguments&&... arguments) {
        return T(std::forward<Arguments>(arguments)...);
    }
    template <class T, class... Arguments>
    static std::unique_ptr<T> make_unique(Arguments&&... arguments) {
        return std::unique_ptr<T>(new T(std::forward<Arguments>(arguments)...));
    }
    /// In memory larger than the class.
    template <class T, class... Arguments>
    static T* construct(void* memory, Arguments&&... arguments) {
        return new (memory) T(std::forward<Arguments>(arguments)...);
    }

    // Handles: ApiClient, GroupWatcher, TargetSource.
    template <class Handle>
    static auto& impl(Handle& handle) noexcept {
        return *handle.impl_;
    }
    template <class Handle>
    static const auto& shared_impl(const Handle& handle) noexcept {
        return handle.impl_;
    }

    /// The blocks of a Labels.
    template <class Labels>
    static auto blocks(const Labels& labels) noexcept {
        return labels.blocks();
    }
    /// The address beside the blocks of a Labels.
    template <class Labels>
    static auto address(const Labels& labels) noexcept {
        return labels.address();
    }

    // TargetGroup.
    template <class Group, class... Arguments>
    static auto make_group(Arguments&&... arguments) {
        return Group::make(std::forward<Arguments>(arguments)...);
    }
    template <class Group>
    static constexpr std::size_t max_targets() noexcept {
        return Group::max_targets;
    }
    template <class Group>
    static auto parts(const Group& group) noexcept {
        return group.parts();
    }
    template <class Group>
    static bool same_parts(const Group& a, const Group& b) noexcept {
        return a.has_parts_of(b);
    }
    template <class Group>
    static auto label_blocks(const Group& group) noexcept {
        return group.label_blocks();
    }

    /// See ObjectTag.
    template <class Object>
    static auto& tag(Object& object) noexcept {
        return object.tag_;
    }
    /// The sorted keys of an IndexKeys, without duplicates.
    template <class Keys>
    static auto sorted(Keys&& keys) {
        return std::forward<Keys>(keys).sorted();
    }

    // ScrapeTarget.
    template <class Target>
    static auto& links(const Target& target) noexcept {
        return target.links_;
    }
    template <class Target>
    static const auto& shape(const Target& target) noexcept {
        return target.shape_;
    }
    template <class Target>
    static const char* values(const Target& target) noexcept {
        return target.values();
    }
};

}  // namespace k8s_sd::inline v0::detail
