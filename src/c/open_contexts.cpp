#include "open_contexts.hpp"

#include "context.hpp"
#include "k8s_sd/detail/base/process_end.hpp"

#include <cstdlib>
#include <mutex>
#include <set>

namespace k8s_sd_c {

namespace {

struct Known {
    std::mutex mutex;
    std::set<Context*> contexts;
};

/// A child has none of the contexts, and the mutex of its parent may stay locked there.
Known& known() {
    static const k8s_sd::detail::Immortal<k8s_sd::detail::PerProcess<Known>> known;
    return known->get();
}

extern "C" void close_all_contexts() noexcept {
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    for (Context* context : all.contexts) context->close();
}

}  // namespace

OpenContext::OpenContext(Context& context) : context_(context) {
    static const int registered = std::atexit(close_all_contexts);
    static_cast<void>(registered);
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    all.contexts.insert(&context);
}

OpenContext::~OpenContext() {
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    all.contexts.erase(&context_);
}

}  // namespace k8s_sd_c
