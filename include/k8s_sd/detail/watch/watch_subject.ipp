#include "k8s_sd/detail/config/rules.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "k8s_sd/detail/watch/watch_request.hpp"
#include "k8s_sd/detail/watch/watch_subject.hpp"

#include <utility>

namespace k8s_sd::inline v0::detail {

namespace {

WatchQuery checked(WatchQuery query) {
    if (!query.ns.empty()) check_namespace_name("namespace", query.ns);
    return query;
}

}  // namespace

WatchSetup::WatchSetup(WatchQuery of, std::shared_ptr<const WatchOptions> with,
                       std::shared_ptr<ObjectMaker> by, std::shared_ptr<const ObjectForm> as)
    : query(checked(std::move(of))),
      options(std::move(with)),
      maker(std::move(by)),
      form(as || is_built_in(query.kind)
               ? std::move(as)
               : std::make_shared<const ObjectForm>(query.kind, Fields::all(), false)),
      schema(form ? form->schema : schema_of(query.kind, *maker->options.version_rules)) {}

std::string_view WatchSubject::object() const noexcept {
    return object_.empty() ? selected_name(setup_->query) : std::string_view(object_);
}

WatchQuery WatchSubject::query() const {
    WatchQuery query = setup_->query;
    if (!object_.empty()) query.field_selector = select_name(object_);
    return query;
}

}  // namespace k8s_sd::inline v0::detail
