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

template <Kind kind>
const KindSchema& static_schema(KindTraits<kind> traits) {
    static const KindSchema schema{kind, make_scratch<typename KindTraits<kind>::Model>,
                                   JsonSchema(traits.json_members()),
                                   older_version_of<KindTraits<kind>>()};
    return schema;
}

}  // namespace

const KindSchema& schema_of(Kind kind) {
    return *with_kind(kind, [](auto traits) { return &static_schema(traits); });
}

}  // namespace k8s_sd::inline v0::detail
