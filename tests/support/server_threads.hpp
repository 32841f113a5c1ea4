#pragma once

#include "k8s_sd/environment.hpp"
#include "k8s_sd/metrics.hpp"
#include "k8s_sd/sim/api_server.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <thread>
#include <vector>

namespace k8s_sd::test {

/// A context run by several threads, with a simulated server. The threads end before the context.
struct ServerThreads {
    explicit ServerThreads(int count, LogLevel level = LogLevel::error)
        : server(context.get_executor()) {
        Environment environment;
        environment.connector = server.connector();
        environment.metrics = metrics;
        environment.logger.level = level;
        install(context, environment);
        for (int i = 0; i < count; ++i) threads.emplace_back([this] { context.run(); });
    }
    ~ServerThreads() {
        work.reset();
        server.disconnect_all();
        context.stop();
    }

    boost::asio::io_context context;
    sim::ApiServer server;
    std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work =
        boost::asio::make_work_guard(context);
    std::vector<std::jthread> threads;
};

}  // namespace k8s_sd::test
