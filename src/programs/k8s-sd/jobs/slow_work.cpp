#include "jobs/slow_work.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

namespace k8s_sd_program {

void SlowWork::run(std::function<void()> piece, OnFailure failed) {
    boost::asio::post(pool_, [this, piece = std::move(piece), failed = std::move(failed),
                              busy = boost::asio::make_work_guard(program_)] {
        attempt(failed, [&] {
            if (stopped_) throw Stopped();
            piece();
        });
    });
}

}  // namespace k8s_sd_program
