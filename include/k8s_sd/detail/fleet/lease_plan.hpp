#pragma once

#include <string>
#include <utility>

namespace k8s_sd::inline v0::detail {

/// Decides which request renews a Lease: first an update of the version that is known, without a
/// look at it, as client-go does.
class LeasePlan {
 public:
    enum class Step { create, read, update };
    enum class Next {
        done,   ///< it is renewed
        again,  ///< the next step follows at once
        later,  ///< it failed
    };

    Step step() const noexcept {
        if (!version_.empty()) return Step::update;
        return exists_ ? Step::read : Step::create;
    }
    /// Of the Lease as it was when it was last read or written; empty: unknown.
    const std::string& version() const noexcept { return version_; }

    /// \param status   of the answer to step(); 0: there was none
    /// \param version  of the Lease in it; empty: none
    Next on_answer(unsigned status, std::string version) {
        const Step asked = step();
        const bool good = (status == 200 || status == 201) && !version.empty();
        if (good) {
            version_ = std::move(version);
            exists_ = true;
            steps_ = asked == Step::read ? steps_ : 0;
            return asked == Step::read ? again() : Next::done;
        }
        // Somebody else has created, changed or deleted it.
        const bool conflict = asked != Step::read && status == 409;
        if (!conflict && status != 404) return fail();
        version_.clear();
        exists_ = conflict;
        return again();
    }

 private:
    Next again() { return ++steps_ < most_steps ? Next::again : fail(); }
    Next fail() {
        steps_ = 0;
        return Next::later;
    }

    static constexpr int most_steps = 5;
    std::string version_;
    bool exists_ = false;
    int steps_ = 0;  ///< in a row without success
};

}  // namespace k8s_sd::inline v0::detail
