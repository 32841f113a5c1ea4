#pragma once

#include "k8s_sd/api/object_meta.hpp"
#include "k8s_sd/detail/codec/projection.hpp"
#include "k8s_sd/objects/fields.hpp"

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// The structs of k8s_sd::api as tables with a row for each field; decoders are built from them.
/// The tables read like the Kubernetes API reference: the name of a member in JSON, the number of
/// its field in protobuf (generated.proto of the API group), and the member of the struct.
namespace k8s_sd::inline v0::detail {

/// The purpose of reading a field. A later purpose includes all fields of the earlier ones.
enum class Use : std::uint8_t {
    none,
    always,  ///< identifies the object
    data,    ///< a member of DataObject
    owners,  ///< the links from a pod to its workload
    labels,  ///< used for a label
    hosts,   ///< available to hosts, see Fields
};

/// The wanted fields of a kind.
struct WantedFields {
    Use labels = Use::labels;  ///< all fields read for this use
    Fields fields;             ///< and these
    auto operator<=>(const WantedFields&) const = default;
};

/// The wire format of a map or an integer.
enum class Format : std::uint8_t {
    plain,
    base64,      ///< the values are bytes, in base64 in JSON
    quantities,  ///< the values are messages with a text in protobuf
    int64,       ///< an integer of up to 64 bits
};

/// Maps a field of a struct to JSON and protobuf.
template <auto Pointer>
struct Row {
    static constexpr auto pointer = Pointer;
    using Field = typename project::MemberPointer<decltype(Pointer)>::field_type;

    std::string_view name;
    std::uint32_t number = 0;  ///< 0: absent in protobuf
    Use use = Use::hosts;
    Format format = Format::plain;
};

/// The rows of a table, each of its own type. A std::tuple would do the same, but the compiler
/// spends seconds on those of all tables.
template <class... Rows>
struct FieldRows : Rows... {
    template <class F>
    constexpr void for_each(const F& f) const {
        (f(static_cast<const Rows&>(*this)), ...);
    }
};
template <class... Rows>
FieldRows(Rows...) -> FieldRows<Rows...>;

/// Rows in a message of their own in protobuf, and among the surrounding members in JSON.
template <class Rows>
struct Inlined {
    std::uint32_t number;
    Rows rows;
};
template <class Rows>
Inlined(std::uint32_t, Rows) -> Inlined<Rows>;

/// The rows of a struct used in objects: `static constexpr FieldRows rows`.
template <class Struct>
struct Table;

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

/// Calls `f` with each row, including the rows of inlined messages.
template <class Rows, class F>
constexpr void for_each_row(const Rows& rows, const F& f) {
    rows.for_each([&](const auto& row) {
        if constexpr (requires { row.rows; }) {
            for_each_row(row.rows, f);
        } else {
            f(row);
        }
    });
}

/// Builds the projection of a struct from its wanted rows.
class TableProjection {
 public:
    explicit TableProjection(const WantedFields& wanted) : wanted_(wanted) {}

    template <class Rows>
    Members members(const Rows& rows) const {
        return members(rows, {}, wanted_.labels);
    }

 private:
    /// \param path  of the struct, with a trailing dot; empty: the object itself
    /// \param labels  the use of its rows for labels, if the struct is used for them
    template <class Rows>
    Members members(const Rows& rows, const std::string& path, Use labels) const {
        Members members;
        rows.for_each([&](const auto& row) { add(members, row, path, labels); });
        return members;
    }

    template <class Rows>
    void add(Members& out, const Inlined<Rows>& inlined, const std::string& path,
             Use labels) const {
        Members inner = members(inlined.rows, path, labels);
        if (inner.empty()) return;
        for (const Member& member : inner) out.push_back(only_in_json(member));
        out.emplace_back(std::string_view(), inlined.number, project::object(std::move(inner)));
    }

    static Member only_in_json(Member member) {
        member.node.field = 0;
        return member;
    }

    template <auto Pointer>
    void add(Members& out, const Row<Pointer>& row, const std::string& path, Use labels) const {
        using Field = typename Row<Pointer>::Field;
        const std::string here = path + std::string(row.name);
        const bool for_labels = row.use <= labels;
        if (!for_labels && !wanted_.fields.reaches(here)) return;
        Projection node = projection(row, here + ".", for_labels ? labels : Use::none);
        if constexpr (std::is_same_v<Field, std::optional<std::chrono::sys_seconds>>) {
            // metav1.Time is a text in JSON and a message in protobuf.
            out.emplace_back(row.name, node);
            out.emplace_back(std::string_view(), row.number,
                             project::object({{"seconds", 1, std::move(node)}}));
        } else {
            out.emplace_back(row.name, row.number, std::move(node));
        }
    }

    template <auto Pointer>
    Projection projection(const Row<Pointer>& row, const std::string& path, Use labels) const {
        using Field = typename Row<Pointer>::Field;
        using namespace project;
        if constexpr (std::is_same_v<Field, std::string_view> ||
                      std::is_same_v<Field, std::optional<std::string_view>>) {
            return text<Pointer>();
        } else if constexpr (std::is_same_v<Field, std::int64_t> ||
                             std::is_same_v<Field, std::optional<std::int64_t>>) {
            Projection node = number<Pointer>();
            node.wide = row.format == Format::int64;
            return node;
        } else if constexpr (std::is_same_v<Field, bool> ||
                             std::is_same_v<Field, std::optional<bool>>) {
            return boolean<Pointer>();
        } else if constexpr (std::is_same_v<Field, std::optional<std::chrono::sys_seconds>>) {
            return time<Pointer>();
        } else if constexpr (std::is_same_v<Field, api::StringMap>) {
            Projection node = map<Pointer>();
            node.base64 = row.format == Format::base64;
            node.wrapped = row.format == Format::quantities;
            return node;
        } else if constexpr (std::is_same_v<Field, std::vector<std::string_view>>) {
            return texts<Pointer>();
        } else if constexpr (IsVector<Field>::value) {
            return array<Pointer>(members(Table<typename Field::value_type>::rows, path, labels));
        } else if constexpr (IsOptional<Field>::value) {
            return optional_object<Pointer>(
                members(Table<typename Field::value_type>::rows, path, labels));
        } else {
            return object<Pointer>(members(Table<Field>::rows, path, labels));
        }
    }

    const WantedFields& wanted_;
};

}  // namespace k8s_sd::inline v0::detail
