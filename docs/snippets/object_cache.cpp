// Snippets of docs/guide/object-cache.md.

#include "k8s_sd/cache/object_cache.hpp"

#include "k8s_sd/cache/reference_sets.hpp"

#include <boost/asio/io_context.hpp>
#include <string_view>

namespace snippets::object_cache {

void use(std::string_view password);

[[maybe_unused]] static void follow_secrets(boost::asio::io_context& io,
                                            const k8s_sd::ObjectCacheConfig& config) {
    //[cache
    k8s_sd::ObjectCache cache(io.get_executor(), config);            // config.kind: Kind::secret
    auto reference = cache.add_reference("shop", "db-credentials");  // starts the watch
    cache.async_get(reference, [](k8s_sd::error_code ec, const k8s_sd::ObjectPtr& object) {
        if (ec) return;  // see the list below
        const auto secret = k8s_sd::as_data_object(object);
        use(secret->get("password").value_or(""));  // decoded bytes
    });
    auto subscription = cache.subscribe("shop", "db-credentials", [](const auto& object) {
        // The current state, then each later one. Null: the server has no such object.
        if (object) use(k8s_sd::as_data_object(object)->get("password").value_or(""));
    });
    //]

    //[references
    k8s_sd::ReferenceSets references(cache);
    references.set("pod-1", {{"shop", "db-credentials"}, {"shop", "registry"}});
    references.set("pod-1", {{"shop", "db-credentials"}});  // drops the second one
    //]
}

}  // namespace snippets::object_cache
