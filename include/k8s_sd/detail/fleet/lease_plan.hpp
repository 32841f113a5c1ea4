#pragma once

#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Decides which request renews a Lease: first, like client-go, an update of the known version
/// without reading it.
class LeasePlan {
 public:
    enum class Step { create, read, update };
    enum class Next {
        done,   ///< the Lease is renewed
        again,  ///< continue with the next step at once
        later,  ///< the attempt failed
    };

    Step step() const noexcept {
        if (!version_.empty()) return Step::update;
        return exists_ ? Step::read : Step::create;
    }
    /// The version of the Lease when it was last read or written; empty: unknown.
    const std::string& version() const noexcept { return version_; }

    /// \param status   of the response to step(); 0: there was none
    /// \param version  of the Lease in the response; empty: none
    Next on_answer(unsigned status, std::string version) {
        const Step asked = step();
        const bool good = (status == 200 || status == 201) && !version.empty();
        if (good) {
            version_ = std::move(version);
            exists_ = true;
            steps_ = asked == Step::read ? steps_ : 0;
            return asked == Step::read ? again() : Next::done;
        }
        // Another client has created, changed or deleted it.
        const bool conflict = asked != Step::read && status == 409;
        if (!conflict && status != 404) return fail();
        version_.clear();
        exists_ = conflict;
        return again();
    }

 private:
    Next again() { return ++steps_ < max_steps ? Next::again : fail(); }
    Next fail() {
        steps_ = 0;
        return Next::later;
    }

    static constexpr int max_steps = 5;
    std::string version_;
    bool exists_ = false;
    int steps_ = 0;  ///< consecutive steps without success
};

}  // namespace k8s_sd::inline v0::detail
