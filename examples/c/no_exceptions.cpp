// A C++ program compiled with -fno-exceptions -fno-rtti, with a loop of its own: it drives the
// library in its thread, and prints the scrape targets of a configuration file.
// Usage: no_exceptions FILE

#include <cstdint>
#include <cstdio>
#include <k8s_sd_c.h>
#include <memory>
#include <string>

namespace {

struct Free {
    void operator()(k8s_sd_context* context) const { k8s_sd_free(context); }
    void operator()(k8s_sd_event* event) const { k8s_sd_event_free(event); }
    void operator()(k8s_sd_error* error) const { k8s_sd_error_free(error); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

std::string text(k8s_sd_string view) { return view.data ? std::string(view.data, view.size) : ""; }

bool read_file(const char* path, std::string& content) {
    std::FILE* file = std::fopen(path, "r");
    if (!file) return false;
    char buffer[4096];
    for (std::size_t size = 0; (size = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
        content.append(buffer, size);
    }
    std::fclose(file);
    return true;
}

void print(k8s_sd_event* event) {
    for (std::size_t i = 0; i < k8s_sd_event_size(event); ++i) {
        const bool removed = k8s_sd_change_op(event, i) == K8S_SD_REMOVED;
        std::printf("%s %s %s\n", removed ? "stop" : "scrape",
                    text(k8s_sd_event_job(event)).c_str(),
                    text(k8s_sd_change_url(event, i)).c_str());
    }
    std::fflush(stdout);
}

int fail(k8s_sd_error* given) {
    const Owned<k8s_sd_error> error(given);
    std::fprintf(stderr, "no_exceptions: %s\n", k8s_sd_error_text(given));
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: no_exceptions FILE\n", stderr);
        return 2;
    }
    std::string yaml;
    if (!read_file(argv[1], yaml)) {
        std::perror(argv[1]);
        return 2;
    }
    auto options = K8S_SD_INIT(k8s_sd_options);
    options.flags = K8S_SD_NO_THREAD | K8S_SD_FIND_SERVER;
    k8s_sd_error* error = nullptr;
    const Owned<k8s_sd_context> context(k8s_sd_open(&options, &error));
    if (!context) return fail(error);
    auto config = K8S_SD_INIT(k8s_sd_config);
    config.yaml = yaml.c_str();
    config.file_name = argv[1];
    if (k8s_sd_scrape(context.get(), &config, nullptr, &error) != K8S_SD_OK) return fail(error);
    for (;;) {
        // A program with its own timers passes the time until the next one.
        if (k8s_sd_poll(context.get(), 1000, &error) < 0) return fail(error);
        while (const Owned<k8s_sd_event> event{k8s_sd_next(context.get())}) print(event.get());
    }
}
