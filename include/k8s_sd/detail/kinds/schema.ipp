#include "k8s_sd/detail/base/process_end.hpp"
#include "k8s_sd/detail/codec/generic_reader.hpp"
#include "k8s_sd/detail/codec/scratch.hpp"
#include "k8s_sd/detail/kinds/all.hpp"
#include "k8s_sd/detail/kinds/field_mask.hpp"
#include "k8s_sd/detail/kinds/generic.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Empties the vectors of a struct and moves their memory to another struct.
/// \param room  in bytes, for all vectors; those beyond it are freed
template <class Struct, class Rows>
void move_memory(Struct& from, Struct& to, const Rows& rows, std::size_t& room) {
    for_each_row(rows, [&](const auto& row) {
        using Field = typename std::decay_t<decltype(row)>::Field;
        Field& field = from.*row.pointer;
        if constexpr (requires { field.emplace_back(); }) {
            const std::size_t bytes = field.capacity() * sizeof(typename Field::value_type);
            if (bytes > room) return;
            room -= bytes;
            field.clear();
            to.*row.pointer = std::move(field);
        } else if constexpr (HasTable<Field>) {
            move_memory(field, to.*row.pointer, Table<Field>::rows, room);
        }
    });
}

template <class Traits>
class ScratchOf final : public Scratch {
    using Model = typename Traits::Model;

 public:
    void* model() noexcept override { return static_cast<Model*>(&document_); }
    const api::ObjectMeta& meta() const noexcept override { return document_.metadata; }
    const model::DocumentHead& head() const noexcept override { return document_; }
    void clear() override {
        // Without the vectors' memory, each object would allocate it again.
        Model empty;
        std::size_t room = std::size_t{64} << 10;
        move_memory<Model>(document_, empty, Traits::rows, room);
        document_ = {};
        static_cast<Model&>(document_) = std::move(empty);
    }

 private:
    model::Document<Model> document_;
};

template <class Traits>
std::unique_ptr<Scratch> make_scratch() {
    return std::make_unique<ScratchOf<Traits>>();
}

template <class Traits>
constexpr std::span<const std::string_view> older_versions_of() {
    if constexpr (requires { Traits::older_versions; }) return Traits::older_versions;
    return {};
}

template <class Traits>
constexpr bool is_custom() {
    if constexpr (requires { Traits::is_custom; }) return Traits::is_custom;
    return false;
}

template <class Traits>
constexpr Use labels_of() {
    if constexpr (requires { Traits::labels; }) return Traits::labels;
    return Use::labels;
}

/// A metadata-only response of the server is sufficient.
bool is_metadata_only(const Members& members) {
    return std::none_of(members.begin(), members.end(), [](const Member& member) {
        return member.node.field != 0 && member.key != "metadata";
    });
}

Projection raw_object() {
    Projection node{.type = Projection::Type::raw};
    node.begin = [](void* around) { return around; };
    node.take_raw = [](void* object, std::string_view json, std::size_t max_bytes) {
        auto& document = *static_cast<Generic*>(object);
        return read_generic(json, static_cast<model::Document<Generic>&>(document), max_bytes);
    };
    node.element.push_back(project::object(
        object_members<Generic>(KindTraits<any_other_kind>::rows, {Use::always, {}})));
    return node;
}

/// The schema of a kind with unknown fields.
KindSchema make_other_schema(Kind kind, const Fields& fields) {
    using Traits = KindTraits<any_other_kind>;
    const bool metadata_only = are_of_metadata(fields);
    const Members members = object_members<Generic>(Traits::rows, {Use::labels, fields});
    return {kind,
            make_scratch<Traits>,
            metadata_only ? JsonSchema(members) : JsonSchema(raw_object(), raw_object()),
            ProtobufSchema(members, status_members<Generic>()),
            {},
            metadata_only,
            !metadata_only};
}

template <Kind kind>
KindSchema make_schema_of(KindTraits<kind> traits, const WantedFields& wanted) {
    using Traits = KindTraits<kind>;
    using Model = typename Traits::Model;
    const Members members = object_members<Model>(traits.rows, wanted);
    return {kind,
            make_scratch<Traits>,
            JsonSchema(members),
            ProtobufSchema(members, status_members<Model>()),
            older_versions_of<Traits>(),
            !is_custom<Traits>() && is_metadata_only(members),
            is_custom<Traits>(),
            is_custom<Traits>()};
}

template <Kind kind>
const KindSchema& static_schema(KindTraits<kind> traits) {
    static const Immortal<KindSchema> schema(
        make_schema_of(traits, {labels_of<KindTraits<kind>>(), {}}));
    return *schema;
}

/// The schemas with fields of some versions: few, because few versions have such fields.
template <Kind kind>
const KindSchema& static_schema(KindTraits<kind> traits, const Fields& fields) {
    struct Known {
        std::mutex mutex;
        std::map<Fields, KindSchema> schemas;
    };
    static const Immortal<Known> known;
    const std::lock_guard lock(known->mutex);
    const auto it = known->schemas.find(fields);
    if (it != known->schemas.end()) return it->second;
    return known->schemas
        .emplace(fields, make_schema_of(traits, {labels_of<KindTraits<kind>>(), fields}))
        .first->second;
}

}  // namespace

Fields version_fields(Kind kind, const VersionRules& rules) {
    return with_kind(kind, [&](auto traits) {
        using Traits = decltype(traits);
        if constexpr (requires { Traits::version_fields(rules); }) {
            return Traits::version_fields(rules);
        }
        return Fields();
    });
}

const KindSchema& schema_of(Kind kind, const VersionRules& rules) {
    const Fields fields = version_fields(kind, rules);
    return *with_kind(kind, [&](auto traits) {
        return fields.empty() ? &static_schema(traits) : &static_schema(traits, fields);
    });
}

KindSchema make_schema(Kind kind, const Fields& fields, const VersionRules& rules) {
    if (!is_built_in(kind)) return make_other_schema(kind, fields);
    WantedFields wanted{Use::always, fields};
    wanted.fields.add({"metadata.labels"});  // selectors may need them in any form
    wanted.fields.add(version_fields(kind, rules));
    return with_kind(kind, [&](auto traits) {
        using Traits = decltype(traits);
        if (ReachesLabels<Traits>) wanted.labels = labels_of<Traits>();
        return make_schema_of(traits, wanted);
    });
}

}  // namespace k8s_sd::inline v0::detail
