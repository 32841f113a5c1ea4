#pragma once

#include <utility>

namespace k8s_sd::inline v0::detail {

/// A static object never destroyed by exit(): detached threads of the library still run while
/// exit() destroys the others. tests/package/headers/check_statics.py finds all other statics.
template <class T>
class Immortal {
 public:
    template <class... Arguments>
    explicit Immortal(Arguments&&... arguments)
        : object_(*new T(std::forward<Arguments>(arguments)...)) {}
    Immortal(const Immortal&) = delete;
    Immortal& operator=(const Immortal&) = delete;

    T& operator*() const noexcept { return object_; }
    T* operator->() const noexcept { return &object_; }

 private:
    T& object_;
};

}  // namespace k8s_sd::inline v0::detail
