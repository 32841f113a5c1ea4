#pragma once

#include "k8s_sd/detail/codec/event.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/text/utf8.hpp"

#include <cstdlib>
#include <string_view>
#include <tuple>

namespace k8s_sd::test {

inline void require(bool condition) {
    if (!condition) std::abort();
}

inline void check(const detail::ServerStatus& status) {
    require(detail::is_utf8(status.message) && detail::is_utf8(status.reason));
    for (const auto& cause : status.causes)
        require(detail::is_utf8(cause.message) && detail::is_utf8(cause.reason));
}

/// Aborts on texts that are no UTF-8, or too long.
class CheckingSink final : public detail::EventSink {
 public:
    /// The number of calls of each kind.
    std::tuple<int, int, int, int> counts() const { return {objects_, bookmarks_, errors_, bad_}; }

 private:
    void on_object(detail::EventType, const detail::DecodedObject& object) override {
        ++objects_;
        require(detail::is_utf8(object.meta.name) && detail::is_utf8(object.meta.namespace_));
        for (const auto& [key, value] : object.meta.labels)
            require(detail::is_utf8(key) && detail::is_utf8(value));
        (void)maker_.make(object)->labels();
    }
    void on_bookmark(std::string_view version, bool) override {
        ++bookmarks_;
        require(version.size() <= 1024);
    }
    void on_error_event(const detail::ServerStatus& status) override {
        ++errors_;
        check(status);
    }
    void on_bad_object(const detail::BadObject& bad) override {
        ++bad_;
        require(bad.resource_version.size() <= 1024 && bad.problem.size() < 1000);
    }

    detail::ObjectMaker maker_;
    int objects_ = 0, bookmarks_ = 0, errors_ = 0, bad_ = 0;
};

}  // namespace k8s_sd::test
