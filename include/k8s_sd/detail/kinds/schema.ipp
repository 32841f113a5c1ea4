#include "k8s_sd/detail/kinds/all.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"

#include <memory>

namespace k8s_sd::inline v0::detail {

namespace {

template <class Model>
std::unique_ptr<Scratch> make_scratch() {
    return std::make_unique<ScratchOf<Model>>();
}

template <class Traits>
constexpr std::string_view older_version_of() {
    if constexpr (requires { Traits::older_version; }) return Traits::older_version;
    return {};
}

template <class Traits>
constexpr bool is_metadata_only() {
    if constexpr (requires { Traits::metadata_only; }) return Traits::metadata_only;
    return false;
}

template <Kind kind>
const KindSchema& static_schema(KindTraits<kind> traits) {
    using Traits = KindTraits<kind>;
    using Model = typename Traits::Model;
    static const KindSchema schema{kind,
                                   make_scratch<Model>,
                                   JsonSchema(traits.members()),
                                   ProtobufSchema(traits.members(), status_members<Model>()),
                                   older_version_of<Traits>(),
                                   is_metadata_only<Traits>()};
    return schema;
}

}  // namespace

const KindSchema& schema_of(Kind kind) {
    return *with_kind(kind, [](auto traits) { return &static_schema(traits); });
}

}  // namespace k8s_sd::inline v0::detail
