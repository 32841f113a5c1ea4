#include "k8s_sd/detail/kinds/field_mask.hpp"

namespace k8s_sd::inline v0::detail {

FieldMask make_mask(const FieldNames& names, const Fields& fields, const std::string& path) {
    if (fields.includes(Fields({path}))) return {FieldMask::Extent::all};
    FieldMask mask{FieldMask::Extent::some};
    for (const FieldName& field : names) {
        const std::string here = (path.empty() ? path : path + ".") + std::string(field.name);
        FieldMask& part = mask.rows.emplace_back();
        if (!fields.reaches(here)) continue;
        if (field.inner == nullptr) {
            part.extent = FieldMask::Extent::all;
        } else {
            part = make_mask(field.inner(), fields, here);
        }
    }
    return mask;
}

void add_paths(const FieldNames& names, const std::string& around,
               std::vector<std::string>& paths) {
    for (const FieldName& field : names) {
        const std::string path = around + std::string(field.name);
        paths.push_back(path);
        if (field.inner != nullptr) add_paths(field.inner(), path + ".", paths);
    }
}

}  // namespace k8s_sd::inline v0::detail
