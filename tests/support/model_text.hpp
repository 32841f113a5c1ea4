#pragma once

#include "k8s_sd/detail/kinds/all.hpp"
#include "k8s_sd/kind.hpp"

#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// A complete text of an object: two objects are equal if their texts are.
namespace k8s_sd::test {

class ModelText {
 public:
    static std::string of(Kind kind, const void* object) {
        return detail::with_kind(kind, [&](auto traits) {
            using Model = typename decltype(traits)::Model;
            ModelText text;
            text.fields(*static_cast<const Model*>(object), traits.rows);
            return text.out_;
        });
    }

 private:
    template <class Struct, class Rows>
    void fields(const Struct& object, const Rows& rows) {
        out_ += "{ ";
        detail::for_each_row(rows, [&](const auto& row) {
            (out_ += row.name) += '=';
            value(object.*row.pointer);
        });
        out_ += "} ";
    }
    void value(std::string_view text) { ((out_ += '"') += text) += "\" "; }
    void value(std::int64_t number) { (out_ += std::to_string(number)) += ' '; }
    void value(std::same_as<bool> auto yes) { out_ += yes ? "true " : "false "; }
    void value(std::chrono::sys_seconds time) {
        value(std::int64_t{time.time_since_epoch().count()});
    }
    void value(const api::StringMap& map) {
        out_ += "[ ";
        for (const auto& [key, text] : map) {
            value(key);
            value(text);
        }
        out_ += "] ";
    }
    template <class T>
    void value(const std::optional<T>& optional) {
        if (!optional) out_ += "none ";
        if (optional) value(*optional);
    }
    template <class T>
    void value(const std::vector<T>& values) {
        out_ += "[ ";
        for (const T& each : values) value(each);
        out_ += "] ";
    }
    template <class Struct>
    requires requires { detail::Table<Struct>::rows; }
    void value(const Struct& object) { fields(object, detail::Table<Struct>::rows); }

    std::string out_;
};

}  // namespace k8s_sd::test
