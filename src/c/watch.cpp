#include "watch.hpp"

#include "failure.hpp"

namespace k8s_sd_c {

namespace {

void write_url(JsonWriter& out, const k8s_sd::WatchStatus& url) {
    out.begin('{').member("kind", to_string(url.kind)).member("namespace", url.ns);
    out.member("synced", url.synced).member("message", url.message);
    out.member("failures", url.failures).member("objects", url.objects);
    out.member("waiting", to_string(url.waiting)).member("resource_version", url.resource_version);
    out.end('}');
}

}  // namespace

void write_status(JsonWriter& out, const k8s_sd::DiscovererStatus& status) {
    out.member("synced", status.synced).member("message", status.message);
    out.name("urls").begin('[');
    for (const k8s_sd::WatchStatus& url : status.watches) write_url(out, url);
    out.end(']');
}

void Watch::reload(const k8s_sd_config&) {
    throw Failure(K8S_SD_INVALID_ARGUMENT, "id: only a watch of k8s_sd_scrape() can be reloaded");
}

void Watch::deliver(const std::shared_ptr<Slot>& slot, EventPtr event) const {
    if (host_.events_as_json) event->json();
    host_.queue.push(slot, std::move(event));
}

}  // namespace k8s_sd_c
