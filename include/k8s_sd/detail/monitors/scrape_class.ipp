#include "k8s_sd/detail/monitors/relabelings.hpp"
#include "k8s_sd/detail/monitors/scrape_class.hpp"
#include "k8s_sd/detail/monitors/tls.hpp"
#include "k8s_sd/detail/text/printable.hpp"
#include "k8s_sd/detail/text/text.hpp"

#include <algorithm>

namespace k8s_sd::inline v0::detail {

namespace {

ObjectView view_of(const ScrapeClass& scrape_class, Faults& faults) {
    return {&scrape_class.spec, "scrapeClasses." + printable(scrape_class.name), faults};
}

void check_class_authorization(const ObjectView& authorization) {
    const bool has_credentials = !authorization["credentials"].text("name").empty();
    if (has_credentials && !authorization.text("credentialsFile").empty()) {
        authorization.refuse("has both credentials and credentialsFile", "remove one of them");
    }
    if (lower_case(trim(authorization.text("type"))) == "basic") {
        authorization["type"].refuse("must not be Basic", "use basicAuth in the objects");
    }
}

}  // namespace

ObjectView scrape_class_of(const ObjectView& spec, const JobContext& context) {
    const std::string_view name = spec.text("scrapeClass");
    const auto& classes = context.owner.scrape_classes;
    const auto found = std::find_if(classes.begin(), classes.end(), [&](const ScrapeClass& c) {
        return name.empty() ? c.is_default : c.name == name;
    });
    if (found != classes.end()) return view_of(*found, context.faults);
    if (!name.empty()) {
        spec["scrapeClass"].refuse("the owner has no scrape class '" + std::string(name) + "'",
                                   "correct the name, or add the class to the owner");
    }
    return {nullptr, "scrapeClass", context.faults};
}

void check_scrape_classes(const MonitorOwner& owner, const JobContext& context) {
    const auto defaults = std::count_if(owner.scrape_classes.begin(), owner.scrape_classes.end(),
                                        [](const ScrapeClass& c) { return c.is_default; });
    if (defaults > 1) {
        context.faults.add("scrapeClasses: several classes are the default",
                           "keep one default class");
    }
    for (const ScrapeClass& scrape_class : owner.scrape_classes) {
        const ObjectView view = view_of(scrape_class, context.faults);
        check_relabelings(view.items("relabelings"), context);
        check_relabelings(view.items("metricRelabelings"), context);
        check_tls(view["tlsConfig"], context, true);
        check_class_authorization(view["authorization"]);
    }
}

}  // namespace k8s_sd::inline v0::detail
