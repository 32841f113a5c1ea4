#pragma once

#include <memory>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Like std::optional, for a value that is nearly always absent: it takes a pointer then. For
/// members of objects that exist thousands of times, such as watches.
template <class T>
class Rare {
 public:
    Rare() = default;
    Rare(T value) : value_(std::make_unique<T>(std::move(value))) {}
    Rare(const Rare& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
    Rare(Rare&&) noexcept = default;
    Rare& operator=(Rare other) noexcept {
        value_ = std::move(other.value_);
        return *this;
    }
    ~Rare() = default;

    bool has_value() const noexcept { return value_ != nullptr; }
    explicit operator bool() const noexcept { return has_value(); }
    T& operator*() noexcept { return *value_; }
    const T& operator*() const noexcept { return *value_; }
    T* operator->() noexcept { return value_.get(); }
    const T* operator->() const noexcept { return value_.get(); }
    T& emplace() { return *(value_ = std::make_unique<T>()); }
    /// The value, after emplace() if there is none.
    T& use() { return value_ ? *value_ : emplace(); }
    void reset() noexcept { value_.reset(); }

 private:
    std::unique_ptr<T> value_;
};

}  // namespace k8s_sd::inline v0::detail
