#pragma once

#include "k8s_sd/api/object_meta.hpp"
#include "k8s_sd/detail/codec/field_table.hpp"
#include "k8s_sd/objects/fields.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace k8s_sd::inline v0::detail {

/// The selected fields of a struct: Fields, resolved once. In the order of its rows.
struct FieldMask {
    enum class Extent : unsigned char { none, some, all };

    Extent extent = Extent::none;
    std::vector<FieldMask> rows{};  ///< for a struct with only some fields selected
};

/// A struct with a table of its fields.
template <class T>
concept HasTable = requires {
    Table<T>::rows;
};

/// The struct in a field: its own, that of an optional, or that of the elements of a vector; void
/// without a struct.
template <class Field>
struct StructIn {
    using type = std::conditional_t<HasTable<Field>, Field, void>;
};
template <class T>
struct StructIn<std::optional<T>> : StructIn<T> {};
template <class T>
struct StructIn<std::vector<T>> : StructIn<T> {};

/// The name of a field, and of those of the struct in it. Names need no code for each field.
struct FieldName {
    std::string_view name;
    std::vector<FieldName> (*inner)() = nullptr;  ///< null: no struct
};
using FieldNames = std::vector<FieldName>;

/// In the order of the rows.
template <class Rows>
FieldNames names_of(const Rows& rows) {
    FieldNames names;
    for_each_row(rows, [&](const auto& row) {
        using Struct = typename StructIn<typename std::decay_t<decltype(row)>::Field>::type;
        FieldName& field = names.emplace_back(row.name);
        if constexpr (!std::is_void_v<Struct>)
            field.inner = [] { return names_of(Table<Struct>::rows); };
    });
    return names;
}

FieldMask make_mask(const FieldNames&, const Fields&, const std::string& path = {});

/// Adds the paths of all fields, in no particular order.
void add_paths(const FieldNames&, const std::string& around, std::vector<std::string>& paths);

/// Calls `visit(row, mask)` for the rows with selected fields.
template <class Rows, class Visit>
void for_each_meant(const Rows& rows, const FieldMask& mask, const Visit& visit) {
    std::size_t i = 0;
    for_each_row(rows, [&](const auto& row) {
        const FieldMask& part = mask.extent == FieldMask::Extent::all ? mask : mask.rows[i];
        ++i;
        if (part.extent != FieldMask::Extent::none) visit(row, part);
    });
}

/// Copies the selected fields.
class MaskedCopy {
 public:
    template <class Struct, class Rows>
    static void copy(const Struct& from, Struct& to, const Rows& rows, const FieldMask& mask) {
        for_each_meant(rows, mask, [&](const auto& row, const FieldMask& part) {
            copy(from.*row.pointer, to.*row.pointer, part);
        });
    }

 private:
    template <class Field>
    static void copy(const Field& from, Field& to, const FieldMask& mask) {
        if (mask.extent == FieldMask::Extent::all) {
            to = from;
        } else if constexpr (HasTable<Field>) {
            copy(from, to, Table<Field>::rows, mask);
        }
    }
    template <class T>
    static void copy(const std::optional<T>& from, std::optional<T>& to, const FieldMask& mask) {
        if (from) copy(*from, to.emplace(), mask);
    }
    template <class T>
    static void copy(const std::vector<T>& from, std::vector<T>& to, const FieldMask& mask) {
        to.resize(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) copy(from[i], to[i], mask);
    }
};

/// Compares the selected fields.
class MaskedComparison {
 public:
    template <class Struct, class Rows>
    static bool equal(const Struct& a, const Struct& b, const Rows& rows, const FieldMask& mask) {
        bool same = true;
        for_each_meant(rows, mask, [&](const auto& row, const FieldMask& part) {
            if (is_version(row)) return;
            same = same && equal(a.*row.pointer, b.*row.pointer, part);
        });
        return same;
    }

 private:
    /// Excluded, as in the comparison of ObjectMeta.
    template <auto Pointer>
    static constexpr bool is_version(const Row<Pointer>&) {
        return std::is_same_v<Row<Pointer>, Row<&api::ObjectMeta::resource_version>>;
    }

    template <class Field>
    static bool equal(const Field& a, const Field& b, const FieldMask& mask) {
        if (mask.extent == FieldMask::Extent::all) return a == b;
        if constexpr (HasTable<Field>) return equal(a, b, Table<Field>::rows, mask);
        return true;
    }
    template <class T>
    static bool equal(const std::optional<T>& a, const std::optional<T>& b, const FieldMask& mask) {
        return a.has_value() == b.has_value() && (!a || equal(*a, *b, mask));
    }
    template <class T>
    static bool equal(const std::vector<T>& a, const std::vector<T>& b, const FieldMask& mask) {
        if (a.size() != b.size()) return false;
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (!equal(a[i], b[i], mask)) return false;
        }
        return true;
    }
};

/// Calls `visit` with each text of a struct.
class EachText {
 public:
    template <class Struct, class Rows, class Visit>
    static void of(Struct& object, const Rows& rows, const Visit& visit) {
        for_each_row(rows, [&](const auto& row) { in(object.*row.pointer, visit); });
    }

 private:
    template <class Field, class Visit>
    static void in(Field& field, const Visit& visit) {
        using Plain = std::remove_const_t<Field>;
        if constexpr (std::is_same_v<Plain, std::string_view>) {
            visit(field);
        } else if constexpr (std::is_same_v<Plain, api::StringMap>) {
            for (auto& [key, value] : field) {
                visit(key);
                visit(value);
            }
        } else if constexpr (IsVector<Plain>::value) {
            for (auto& element : field) in(element, visit);
        } else if constexpr (IsOptional<Plain>::value) {
            if (field) in(*field, visit);
        } else if constexpr (HasTable<Plain>) {
            of(field, Table<Plain>::rows, visit);
        }
    }
};

}  // namespace k8s_sd::inline v0::detail
