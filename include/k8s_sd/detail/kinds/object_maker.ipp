#include "k8s_sd/detail/kinds/all.hpp"
#include "k8s_sd/detail/kinds/generic.hpp"
#include "k8s_sd/detail/kinds/object_maker.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/kinds/typed_object.hpp"

#include <boost/json/object.hpp>
#include <algorithm>
#include <string>
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
    return with_kind(kind, [&](auto traits) { return make_mask(names_of(traits.rows), fields); });
}

std::vector<std::string> field_paths(Kind kind) {
    std::vector<std::string> paths;
    with_kind(kind, [&](auto traits) { add_paths(names_of(traits.rows), {}, paths); });
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

namespace {

template <class Traits>
ObjectPtr make_for_labels(const typename Traits::Model& model, const RoleOptions& options,
                          ObjectFactory& factory) {
    if constexpr (ReachesLabels<Traits>) {
        return new typename Traits::LabelObject(model, options, factory);
    } else if constexpr (requires { Traits::make(model); }) {
        return Traits::make(model);
    } else {
        return nullptr;  // other kinds are not used for labels
    }
}

/// Adds kind and version, because items of lists may omit them. Otherwise an object from a list
/// would differ from the same object from a watch.
void add_type(boost::json::object& content, Kind kind, const Fields& fields) {
    const Resource& resource = resource_of(kind);
    if (fields.includes({"kind"})) content.emplace("kind", resource.kind);
    if (!fields.includes({"apiVersion"})) return;
    const std::string group = resource.group.empty() ? "" : std::string(resource.group) + "/";
    content.emplace("apiVersion", group + std::string(resource.version));
}

template <class Traits>
ObjectPtr make_for_hosts(Kind kind, const typename Traits::Model& model, const ObjectForm& form,
                         const RoleOptions& options, ObjectFactory& factory) {
    using Model = typename Traits::Model;
    if constexpr (std::is_same_v<Model, Generic>) {
        auto kept = own_struct(model, Traits::rows, form.mask);
        kept->object.content = keep_content(model.content, form.fields);
        add_type(kept->object.content, kind, form.fields);
        return new TypedObject<Generic>(kind, without_texts(std::move(kept)));
    } else {
        auto kept = without_texts(own_struct(model, Traits::rows, form.mask));
        if constexpr (ReachesLabels<Traits>) {
            if (form.with_labels) {
                return new TypedLabelObject<typename Traits::LabelObject, Model>(
                    std::move(kept), model, options, factory);
            }
        }
        return new TypedObject<Model>(kind, std::move(kept));
    }
}

}  // namespace

ObjectPtr ObjectMaker::make(const DecodedObject& object, const ObjectForm* form) {
    factory.begin_object();
    return with_kind(object.kind, [&](auto kind) {
        using Traits = decltype(kind);
        const auto& model = *static_cast<const typename Traits::Model*>(object.model);
        if (form == nullptr) return make_for_labels<Traits>(model, options, factory);
        return make_for_hosts<Traits>(object.kind, model, *form, options, factory);
    });
}

}  // namespace k8s_sd::inline v0::detail
