#include "k8s_sd/detail/kinds/all.hpp"
#include "k8s_sd/detail/kinds/generic_content.hpp"
#include "k8s_sd/detail/kinds/object_form.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/kinds/typed_object.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

/// Excludes that path and the paths around it.
Fields all_but(std::string_view left_out, std::vector<std::string> paths) {
    std::erase_if(paths, [&](const std::string& path) { return Fields({path}).reaches(left_out); });
    return Fields(std::move(paths));
}

}  // namespace

FieldMask mask_of(Kind kind, const Fields& fields) {
    return with_kind(kind, [&](auto traits) { return make_mask(traits.rows, fields); });
}

std::vector<std::string> field_paths(Kind kind) {
    std::vector<std::string> paths;
    with_kind(kind, [&](auto traits) { add_paths(traits.rows, {}, paths); });
    std::sort(paths.begin(), paths.end());
    return paths;
}

Fields fields_meant(Kind kind, const Fields& fields) {
    return with_kind(kind, [&](auto traits) {
        using Traits = decltype(traits);
        if constexpr (requires { Traits::only_by_name; }) {
            if (fields == Fields::all()) return all_but(Traits::only_by_name, field_paths(kind));
        }
        return fields;
    });
}

bool same_fields(const Object& a, const Object& b, const Fields& fields, const FieldMask& mask) {
    return with_kind(a.kind(), [&](auto traits) {
        using Model = typename decltype(traits)::Model;
        const auto before = struct_of<Model>(a);
        const auto after = struct_of<Model>(b);
        if (!MaskedComparison::equal(*before, *after, traits.rows, mask)) return false;
        if constexpr (std::is_same_v<Model, Generic>)
            return same_content(before->content, after->content, fields);
        return true;
    });
}

ObjectForm::ObjectForm(Kind kind, const Fields& kept, bool labels, const VersionRules& rules)
    : fields(kept),
      mask(mask_of(kind, fields)),
      with_labels(labels),
      schema(make_schema(kind, fields, labels ? rules : no_version_rules)) {}

}  // namespace k8s_sd::inline v0::detail
