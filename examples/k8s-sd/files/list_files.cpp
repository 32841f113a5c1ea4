#include "files/list_files.hpp"

#include "files/target_folder.hpp"

#include <boost/asio/post.hpp>
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

/// Where files are, and who works on them. It is there as long as the worker has to do with it.
struct ListFiles::Place {
    void remove_all_but(const std::set<std::string>& files) const {
        for (const std::string& file : folder.written()) {
            if (files.contains(file)) continue;
            try {
                folder.remove(file);
            } catch (const std::system_error& e) {
                ++metrics.errors;
                complain(e.what());
            }
        }
    }

    const asio::any_io_executor worker;
    const std::shared_ptr<k8s_sd::Clock> clock;
    const TargetFolder folder;
    const ListForm form;
    const TargetFile::Complain complain;
    FileMetrics& metrics;
    const std::chrono::milliseconds look;
};

/// Writes a job's file, again and again. All but its constructor is for the worker.
class ListFiles::Writer : public std::enable_shared_from_this<Writer> {
 public:
    Writer(std::shared_ptr<ServedJob> job, std::shared_ptr<const Place> place,
           std::string_view name)
        : job_(std::move(job)),
          place_(std::move(place)),
          file_(place_->folder, file_name_of(name), place_->complain, place_->metrics),
          timer_(place_->clock->make_timer(place_->worker)) {}

    const std::shared_ptr<ServedJob>& job() const { return job_; }

    void ask() {
        if (stopped_) return;
        // An answer comes sooner if there is a change. The job may live longer than the worker.
        job_->get({{place_->form}, {}, place_->look, known_, place_->look},
                  [weak = weak_from_this(), worker = place_->worker](const ListAnswer& answer) {
                      asio::post(worker, [weak, answer] {
                          if (const auto self = weak.lock()) self->on_answer(answer);
                      });
                  });
    }
    void stop() {
        stopped_ = true;
        timer_->cancel();
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
        timer_->expires_at(place_->clock->now() + pause, [this] { ask(); });
    }

    const std::shared_ptr<ServedJob> job_;
    const std::shared_ptr<const Place> place_;
    TargetFile file_;
    const std::unique_ptr<k8s_sd::Timer> timer_;
    std::string known_;
    bool stopped_ = false;
};

ListFiles::ListFiles(asio::any_io_executor worker, std::shared_ptr<k8s_sd::Clock> clock,
                     const std::string& folder, ListForm form, TargetFile::Complain complain,
                     FileMetrics& metrics, std::chrono::milliseconds look)
    : place_(new Place{std::move(worker), std::move(clock), TargetFolder(folder), form,
                       std::move(complain), metrics, look}) {}

ListFiles::~ListFiles() {
    for (auto& [job, writer] : writers_) {
        asio::post(place_->worker, [stopped = std::move(writer)] { stopped->stop(); });
    }
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
        writer = std::make_shared<Writer>(jobs.find(name), place_, name);
        asio::post(place_->worker, [writer] { writer->ask(); });
    }
    writers_.swap(writers);
    asio::post(place_->worker,
               [place = place_, old = std::move(writers), files = std::move(files)]() mutable {
                   for (const auto& [job, writer] : old) {
                       if (writer) writer->stop();
                   }
                   old.clear();
                   place->remove_all_but(files);
               });
}

}  // namespace bridge
