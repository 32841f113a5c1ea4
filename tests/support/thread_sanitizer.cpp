// Works around defects of ThreadSanitizer, in each program compiled with it.
#include <poll.h>

// Asio counts the references to a type-erased executor with a release decrement and an acquire
// fence. The pair is correct, but ThreadSanitizer does not support fences and reports the deletion
// by the last owner as a race with the earlier decrements.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
    return "race:boost::asio::execution::detail::shared_target_executor::~shared_target_executor\n";
}

// The first blocking call of a thread allocates its signal context. ThreadSanitizer of gcc 12 loses
// a signal that interrupts this allocation, so the main thread does it before it handles signals.
[[maybe_unused]] static const int first_blocking_call = ::poll(nullptr, 0, 0);
