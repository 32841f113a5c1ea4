#pragma once

#include "k8s_sd/detail/base/process_end.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
    // Not by value: the implicit assignment of a class with such a member would be noexcept.
    Rare& operator=(const Rare& other) { return *this = Rare(other); }
    Rare& operator=(Rare&&) noexcept = default;
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

/// A text that is nearly always empty: it takes a pointer then.
class RareText {
 public:
    RareText& operator=(std::string_view text) {
        text_ = text.empty() ? Rare<std::string>() : Rare<std::string>(std::string(text));
        return *this;
    }
    RareText& operator+=(std::string_view text) {
        if (!text.empty()) text_.use() += text;
        return *this;
    }
    void clear() noexcept { text_.reset(); }

    bool empty() const noexcept { return !text_; }
    std::size_t size() const noexcept { return text_ ? text_->size() : 0; }
    const std::string& text() const noexcept {
        static const Immortal<std::string> none;
        return text_ ? *text_ : *none;
    }
    operator std::string_view() const noexcept { return text(); }
    friend bool operator==(const RareText& a, std::string_view b) noexcept { return a.text() == b; }

 private:
    Rare<std::string> text_;
};

/// A list that is nearly always empty: it takes a pointer then.
template <class T>
class RareList {
 public:
    void push_back(T value) { list_.use().push_back(std::move(value)); }
    /// \returns the number of erased values
    std::size_t erase(const T& value) {
        if (!list_) return 0;
        const std::size_t erased = std::erase(*list_, value);
        if (list_->empty()) list_.reset();
        return erased;
    }
    void clear() noexcept { list_.reset(); }
    /// All values; none are left here.
    std::vector<T> take() noexcept {
        std::vector<T> all;
        if (list_) all.swap(*list_);
        list_.reset();
        return all;
    }

    bool empty() const noexcept { return size() == 0; }  // also after a push_back() that threw
    std::size_t size() const noexcept { return list_ ? list_->size() : 0; }
    const T* begin() const noexcept { return list_ ? list_->data() : nullptr; }
    const T* end() const noexcept { return list_ ? list_->data() + list_->size() : nullptr; }

 private:
    Rare<std::vector<T>> list_;  // not empty
};

}  // namespace k8s_sd::inline v0::detail
