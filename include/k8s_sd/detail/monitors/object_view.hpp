#pragma once

#include "k8s_sd/monitors/monitor.hpp"

#include <boost/json/value.hpp>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The first fault of a monitor or an owner.
class Faults {
 public:
    void add(std::string reason, std::string remedy) {
        if (!first_) first_ = MonitorRefusal{std::move(reason), std::move(remedy)};
    }
    bool none() const noexcept { return !first_; }
    const std::optional<MonitorRefusal>& first() const noexcept { return first_; }

 private:
    std::optional<MonitorRefusal> first_;
};

/// A value of an object of the API, with its path. Null equals an absent value, as in Go. A value
/// of another type than the requested one is a fault, and reads as absent: the API server's schema
/// refuses such objects, but the schema is not ours.
class ObjectView {
 public:
    /// \param value  null: absent. The value must outlive the view.
    ObjectView(const boost::json::value* value, std::string path, Faults& faults)
        : ObjectView(value, std::move(path), std::nullopt, faults) {}

    bool is_absent() const noexcept { return value_ == nullptr; }
    bool is_object() const noexcept { return value_ != nullptr && value_->is_object(); }
    bool is_text() const noexcept { return value_ != nullptr && value_->is_string(); }
    explicit operator bool() const noexcept { return !is_absent(); }
    std::string path() const;
    /// The same value with paths relative to it.
    ObjectView as_root() const { return {value_, "", *faults_}; }
    /// Refuses the object because of this value.
    void refuse(std::string_view problem, std::string remedy) const;

    /// The member of an object.
    /// \param key  must outlive the view
    ObjectView operator[](std::string_view key) const;
    template <std::same_as<std::string> Temporary>
    ObjectView operator[](Temporary&& key) const = delete;
    /// Whether the member is there, even if it is empty.
    bool has(std::string_view key) const { return member(key) != nullptr; }
    /// The items of a list; empty if absent.
    std::vector<ObjectView> items() const;
    /// The members of an object, sorted by key, without null ones; empty if absent.
    std::vector<std::pair<std::string_view, ObjectView>> members() const;
    /// Whether it is absent, or an object without members other than null.
    bool is_empty_object() const;

    std::optional<std::string_view> as_text() const;
    std::optional<bool> as_flag() const;
    /// A whole number, not below 0.
    std::optional<std::uint64_t> as_number() const;
    /// A Kubernetes quantity, as a text or as a number.
    std::optional<double> as_quantity() const;
    /// A whole number of 32 bits.
    std::optional<std::int32_t> as_integer() const;
    /// A list of texts.
    std::vector<std::string> as_texts() const;
    /// The value itself; null if absent.
    boost::json::value copy() const { return is_absent() ? boost::json::value() : *value_; }

    // The same for a member. Most are absent, and have no path then.
    /// "" if absent.
    std::string_view text(std::string_view key) const;
    std::optional<bool> flag(std::string_view key) const;
    std::optional<std::uint64_t> number(std::string_view key) const;
    std::vector<ObjectView> items(std::string_view key) const;
    std::vector<std::string> texts(std::string_view key) const;

 private:
    ObjectView(const boost::json::value* value, std::string around,
               std::optional<std::string_view> key, Faults& faults)
        : value_(value != nullptr && value->is_null() ? nullptr : value),
          around_(std::move(around)),
          key_(key),
          faults_(&faults) {}

    const boost::json::value* member(std::string_view key) const;
    void wrong_type(std::string_view wanted) const;

    const boost::json::value* value_;
    // The path is put together only if it is needed: most members are absent, and valid.
    std::string around_;                   ///< the path of the object with this member
    std::optional<std::string_view> key_;  ///< of the member; nullopt: `around_` is the path
    Faults* faults_;
};

}  // namespace k8s_sd::inline v0::detail
