// Decodes the list and the events of a cluster's pods from memory, without sockets and objects.
// Prints the floor beside it: Boost.JSON's parser over the same bytes with a handler that does
// nothing.

#include "cluster.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"
#include "measure.hpp"
#include "no_handler.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

namespace {

using namespace k8s_sd;
using bench::cpu_seconds;

struct Counter final : detail::EventSink {
    void on_object(detail::EventType, const detail::DecodedObject&) override { ++objects; }
    void on_bookmark(std::string_view, bool) override {}
    void on_error_event(const detail::ServerStatus&) override {}
    void on_bad_object(const detail::BadObject&) override {}
    std::size_t objects = 0;
};

/// In pieces, as a socket delivers them.
template <class Take>
void feed(std::string_view body, const Take& take) {
    constexpr std::size_t piece = 64 * 1024;
    for (; !body.empty(); body.remove_prefix(std::min(piece, body.size()))) {
        take(body.substr(0, piece));
    }
}

/// The minimum over several rounds.
template <class Round>
double best(const Round& round) {
    double least = std::numeric_limits<double>::max();
    for (int i = 0; i < 5; ++i) {
        const double start = cpu_seconds();
        round();
        least = std::min(least, cpu_seconds() - start);
    }
    return least;
}

double decode(detail::Document document, std::string_view body, std::size_t objects) {
    return best([&] {
        Counter counter;
        detail::ListWatchReader reader(detail::schema_of(Kind::pod), std::size_t{1} << 20, counter);
        reader.expect(document);
        reader.choose_decoder("application/json");
        feed(body, [&](std::string_view piece) {
            if (reader.feed(piece)) std::abort();
        });
        if (reader.finish() || counter.objects != objects) std::abort();
    });
}

double parse(std::string_view body) {
    return best([&] {
        boost::json::basic_parser<bench::NoHandler> parser({});
        feed(body, [&](std::string_view piece) {
            while (!piece.empty()) {
                if (parser.done()) parser.reset();
                boost::system::error_code ec;
                piece.remove_prefix(parser.write_some(true, piece.data(), piece.size(), ec));
                if (ec) std::abort();
            }
        });
    });
}

void print(const char* what, std::string_view body, std::size_t objects,
           detail::Document document) {
    const double floor = parse(body);
    const double own = decode(document, body, objects);
    const auto bytes = static_cast<double>(body.size());
    std::printf("%-20s parser's floor %5.2f GB/s, decoding %5.2f GB/s, %.2f times the floor, "
                "%.0f ns an object\n",
                what, bytes / floor / 1e9, bytes / own / 1e9, own / floor,
                own * 1e9 / static_cast<double>(objects));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--help") {
        std::puts("usage: bench_decode [PODS=4000]");
        return 0;
    }
    const bench::Cluster cluster(bench::argument(argc, argv, 1, 4000));
    std::string list;
    for (const std::string& part : cluster.parts()) list += part;
    std::string events;
    for (std::size_t i = 0; i < cluster.size(); ++i) cluster.append_event(events, i, i);
    print("a list of pods", list, cluster.size(), detail::Document::list);
    print("MODIFIED of pods", events, cluster.size(), detail::Document::watch);
    return 0;
}
