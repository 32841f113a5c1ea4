#include "files/list_files.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <algorithm>
#include <chrono>
#include <set>
#include <system_error>
#include <utility>

namespace bridge {

namespace asio = boost::asio;

namespace {

/// Where a job cannot let us wait.
constexpr std::chrono::milliseconds limit_pause{5'000};

}  // namespace

/// Writes a job's file, again and again. All but its constructor is for the thread of the files.
class ListFiles::Writer : public std::enable_shared_from_this<Writer> {
 public:
    Writer(std::shared_ptr<ServedJob> job, const ListFiles& files, const std::string& name,
           const asio::any_io_executor& executor)
        : job_(std::move(job)),
          form_(files.form_),
          look_(files.look_),
          file_(files.folder_, file_name_of(name), files.complain_, files.metrics_),
          timer_(executor) {}

    const std::shared_ptr<ServedJob>& job() const { return job_; }

    void ask() {
        if (stopped_) return;
        // An answer comes sooner if there is a change. The job may outlive the files.
        job_->get({form_, {}, look_, known_, look_}, [weak = weak_from_this()](
                                                         const ListAnswer& answer) {
            const auto self = weak.lock();
            if (!self) return;
            asio::post(self->timer_.get_executor(), [self, answer] { self->on_answer(answer); });
        });
    }
    void stop() {
        stopped_ = true;
        timer_.cancel();
    }

 private:
    void on_answer(const ListAnswer& answer) {
        if (stopped_ || answer.why == Refusal::ended) return;
        std::chrono::milliseconds pause{0};
        // A list that is known, too: the file may not be what it was.
        if (answer.body) {
            pause = file_.write(*answer.body->bytes());
            if (file_.good()) known_ = answer.body->tag();
        }
        ask_after(answer.why == Refusal::limit ? std::max(pause, limit_pause) : pause);
    }
    void ask_after(std::chrono::milliseconds pause) {
        timer_.expires_after(pause);
        timer_.async_wait([self = shared_from_this()](boost::system::error_code ec) {
            if (!ec) self->ask();
        });
    }

    const std::shared_ptr<ServedJob> job_;
    const ListForm form_;
    const std::chrono::milliseconds look_;
    TargetFile file_;
    asio::steady_timer timer_;
    std::string known_;
    bool stopped_ = false;
};

ListFiles::ListFiles(const std::string& folder, ListForm form, TargetFile::Complain complain,
                     FileMetrics& metrics, std::chrono::milliseconds look)
    : folder_(folder),
      form_(form),
      complain_(std::move(complain)),
      metrics_(metrics),
      look_(look) {}

ListFiles::~ListFiles() {
    for (const auto& [job, writer] : writers_) {
        asio::post(thread_, [stopped = writer] { stopped->stop(); });
    }
    thread_.join();
}

void ListFiles::follow(const ServedJobs& jobs) {
    std::map<std::string, std::shared_ptr<Writer>, std::less<>> writers;
    std::set<std::string> files;
    for (const std::string_view name : jobs.names()) {
        files.insert(file_name_of(name));
        auto& writer = writers[std::string(name)];
        const auto old = writers_.find(name);
        if (old != writers_.end() && old->second->job() == jobs.find(name)) {
            writer.swap(old->second);
            continue;
        }
        writer = std::make_shared<Writer>(jobs.find(name), *this, std::string(name),
                                          thread_.get_executor());
        asio::post(thread_, [writer] { writer->ask(); });
    }
    writers_.swap(writers);
    asio::post(thread_, [this, old = std::move(writers), files = std::move(files)] {
        for (const auto& [job, writer] : old) {
            if (writer) writer->stop();
        }
        remove_all_but(files);
    });
}

void ListFiles::remove_all_but(const std::set<std::string>& files) const {
    for (const std::string& file : folder_.written()) {
        if (files.contains(file)) continue;
        try {
            folder_.remove(file);
        } catch (const std::system_error& e) {
            ++metrics_.errors;
            complain_(e.what());
        }
    }
}

}  // namespace bridge
