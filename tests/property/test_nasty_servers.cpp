#include "property/for_each_seed.hpp"
#include "property/random_faults.hpp"
#include "support/contains.hpp"
#include "support/gzip.hpp"
#include "support/host.hpp"
#include "support/http2_frames.hpp"
#include "support/objects.hpp"
#include "support/plain_lists.hpp"
#include "support/simulation.hpp"
#include "support/watch_probe.hpp"

#include <catch2/catch_test_macros.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::test;
using namespace std::chrono_literals;

namespace {

/// A server that treats lists, probes and watches each in a few ways chosen by the seed, and
/// occasionally in another way. It repeats, stalls, lies, ends early and echoes.
class NastyServer {
 public:
    NastyServer(Random& random, sim::ApiServer& server) : random_(random), server_(server) {
        for (auto* habits : {&lists_, &pages_, &probes_, &watches_, &streams_}) {
            for (unsigned i = 1 + random_.below(3); i > 0; --i)
                habits->push_back(random_.below(all_ways));
        }
    }
    void begin() {
        server_.set_intercept([this](const sim::Request& request) { return answer(request); });
    }
    void end() {
        server_.set_intercept({});
        server_.accept_connections(true);
    }

 private:
    std::optional<sim::Response> answer(const sim::Request& request) {
        const bool page = !request.param("continue").empty();
        const bool streamed = !request.param("sendInitialEvents").empty();
        const auto& habits = streamed                        ? streams_
                             : request.is_watch()            ? watches_
                             : page                          ? pages_
                             : request.param("limit") == "1" ? probes_
                                                             : lists_;
        return act(random_.one_in(10) ? random_.below(all_ways) : random_.pick(habits), request);
    }

    std::optional<sim::Response> act(unsigned what, const sim::Request& request) {
        using sim::Response;
        const std::string secret(request.header("Authorization").value_or(""));
        const std::string version(request.param("resourceVersion"));
        switch (what) {
            case 0: return Response::disconnect();
            case 1: return Response::never();
            case 2: return failure(410, "Expired", "too old resource version");
            case 3: return failure(504, "Timeout", "Too large resource version: 9, current: 3");
            case 4: return busy(429);
            case 5: return busy(503);
            case 6: return failure(500, "InternalError", "you sent " + secret);
            case 7: return failure(403, "Forbidden", secret);
            case 8: return failure(405, "MethodNotAllowed", "no");
            case 9: return failure(404, "NotFound", "no");
            case 10: return failure(400, "BadRequest", "no");
            case 11: return failure(401, "Unauthorized", "no " + secret);
            case 12: return text(200, "text/html", "<html>" + secret);
            case 13: return text(200, "text/" + secret, "x");
            case 14: return text(200, "application/json", "");
            case 15: return text(200, "application/json", "garbage");
            case 16: return text(200, "application/json", bookmark(version));
            case 17: return text(200, "application/json", bookmark(version) + error(410));
            case 18: return text(200, "application/json", error(410));
            case 19: return text(200, "application/json", error(500));
            case 20: return text(200, "application/json", list("again"));
            case 21: return text(200, "application/json", list(random_.numbered("t", 1000)));
            case 22: return text(200, "application/json", list(""));  // an empty list
            case 23:
                return text(200, "application/json",
                            "{\"kind\":\"ServiceList\"," + list("").substr(18));
            case 24: return text(204, "", "");
            case 25: return redirect();
            case 26: return compressed();
            case 27: return slow_head();
            case 28: return failure(406, "NotAcceptable", "no");
            case 29: return failure(422, "Invalid", "no");
            case 30: return stream(initial_events(true));
            case 31: return stream(initial_events(false));
            case 32: return stream(gzip(initial_events(true)), "gzip");
            case 33: return stream(gzip(initial_events(true)));
            case 34: return stream(initial_events(true), "gzip");
            case 35: return stream(cut_gzip(), "gzip");
            case 36: return stream(gzip(initial_events(true)) + "garbage", "gzip");
            case 37: return failure(429, "TooManyRequests", "storage is (re)initializing");
            default: return std::nullopt;  // a correct response
        }
    }

    static constexpr unsigned all_ways = 50;

    static sim::Response failure(unsigned code, const std::string& reason, const std::string& why) {
        return sim::Response::failure(code, reason, why);
    }
    /// A watch that ends at once.
    static sim::Response stream(std::string body, const std::string& coding = {}) {
        sim::Response response = text(200, "application/json", std::move(body));
        response.framing = sim::Response::Framing::chunked;
        if (!coding.empty()) response.headers.emplace_back("Content-Encoding", coding);
        return response;
    }
    /// An empty, old list as a stream. \param ends  it is marked as complete
    static std::string initial_events(bool ends) {
        return R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":)"
               R"({"resourceVersion":"1")" +
               std::string(ends ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") +
               "}}}\n";
    }
    static std::string cut_gzip() {
        const std::string packed = gzip(initial_events(true));
        return packed.substr(0, packed.size() / 2);
    }
    static sim::Response text(unsigned status, std::string type, std::string body) {
        sim::Response response;
        response.status = status;
        response.content_type = std::move(type);
        response.body = std::move(body);
        return response;
    }
    sim::Response busy(unsigned status) {
        sim::Response response = failure(status, "TooManyRequests", "later");
        response.headers.emplace_back("Retry-After",
                                      random_.pick<std::string>({"0", "1", "5", "soon"}));
        return response;
    }
    sim::Response redirect() {
        sim::Response response = text(302, "text/html", "there");
        response.headers.emplace_back("Location", "https://elsewhere.invalid/");
        return response;
    }
    sim::Response compressed() {
        sim::Response response = text(200, "application/json", "\x1f\x8b\x08");
        response.headers.emplace_back("Content-Encoding", "gzip");
        return response;
    }
    /// The chosen response, truncated.
    sim::Response slow_head() {
        sim::Response response = text(200, "application/json", list(""));
        response.cut_after = random_.below(30);
        return response;
    }
    // No client can detect a server that wrongly claims to be up to date. These lies are older than
    // the concurrent changes.
    static std::string bookmark(const std::string& version) {
        return R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":)"
               R"({"resourceVersion":")" +
               version + "\"}}}\n";
    }
    static std::string error(int code) {
        return R"({"type":"ERROR","object":{"kind":"Status","code":)" + std::to_string(code) +
               "}}\n";
    }
    static std::string list(const std::string& more) {
        return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":")" +
               more + R"("},"items":[]})";
    }

    Random& random_;
    sim::ApiServer& server_;
    std::vector<unsigned> lists_, pages_, probes_, watches_, streams_;
};

/// Frames of a nasty server by HTTP/2.
class NastyFrames {
 public:
    NastyFrames(Random& random, sim::ApiServer& server) : random_(random), server_(server) {}

    void disturb() {
        using GoAway = sim::ApiServer::GoAway;
        namespace h2 = test::http2;
        std::string frames;
        switch (random_.below(14)) {
            case 0: return server_.set_http2({.max_streams = random_.below(4)});
            case 1: return server_.set_http2({.refuse_streams = true});
            case 2: return server_.set_http2({.omit_end_stream = true});
            case 3: return server_.set_http2({.answer_pings = false});
            case 4: return server_.set_http2({.require_http1 = true});
            case 5:
                return server_.send_goaway(random_.pick<GoAway>(
                    {GoAway::announced, GoAway::graceful, GoAway::unprocessed, GoAway::calm}));
            case 6: frames = h2::rst_frame(stream(), random_.below(14)); break;
            case 7: frames = h2::data_frame(stream(), "garbage"); break;
            case 8: frames = std::string(1 + random_.below(100), 'x'); break;
            case 9:
                for (int i = 0; i < 20'000; ++i) frames += h2::settings_frame();
                break;
            case 10: return server_.set_http2({.reset_streams = 1 + random_.below(13)});
            case 11:
                for (int i = 0; i < 20'000; ++i) frames += h2::rst_frame(1, h2::internal_error);
                break;
            default: return calm_down();
        }
        server_.send_http2_frames(frames);
    }
    void calm_down() { server_.set_http2({}); }

 private:
    /// One of the first streams of a connection.
    std::int32_t stream() { return static_cast<std::int32_t>(1 + 2 * random_.below(8)); }

    Random& random_;
    sim::ApiServer& server_;
};

/// Pods that come and go, a nasty server, one host; finally the server behaves.
class Scenario {
 public:
    explicit Scenario(std::uint64_t seed)
        : random_(seed),
          sim_(random_server(random_), random_transport(random_)),
          nasty_(random_, sim_.server),
          frames_(random_, sim_.server),
          host_(sim_.context.get_executor(), config()) {
        sim_.server.set_token(token);
        for (int i = 0; i < 8; ++i) change();
        if (random_.one_in(2)) nasty_.begin();
        host_.run();
        sim_.settle();
        nasty_.begin();
    }

    void run() {
        for (int minute = 0; minute < 20; ++minute) {
            const auto before = requests();
            for (int i = 0; i < 6; ++i) {
                if (random_.one_in(4)) change();
                if (random_.one_in(12)) sim_.server.disconnect_all();
                if (is_by_http2() && random_.one_in(4)) frames_.disturb();
                sim_.advance(10s);
            }
            // Retries, probes and lists; pages with objects are few here.
            CHECK(requests() - before <= 250);
            CHECK(sim_.server.open_connections() <= 10);
            check_reported(minute);
            sim_.server.clear_requests();
        }
    }

    /// Sent so far, including those of streams that the server has refused or reset.
    std::uint64_t requests() { return server_usage(sim_.context).at(0).requests; }

    void check_end() {
        nasty_.end();
        frames_.calm_down();
        sim_.advance(12min);
        std::set<std::string> expected;
        for (const auto& name : names_) {
            if (sim_.server.get("pods", "default", name)) expected.insert("pod/default/" + name);
        }
        std::set<std::string> found;
        for (const auto& [source, group] : host_.groups) found.insert(source);
        CHECK(found == expected);
        CHECK(host_.complaints == "");
        CHECK_FALSE(host_.discoverer->status().error);
        const std::uint64_t before = requests();
        sim_.advance(10min);
        CHECK(requests() - before <= 5);
        for (const std::string& line : sim_.take_log()) CHECK(line.find(token) == line.npos);
    }

 private:
    static constexpr const char* token = "eyJhbGciOiJSUzI1NiJ9.very-secret.token";

    DiscoveryConfig config() {
        DiscoveryConfig config{.watch = plain_lists()};
        config.api_server.url = sim_.server.url();
        config.api_server.auth.bearer_token = token;
        if (is_by_http2()) config.api_server.http_version = HttpVersion::http2;
        config.watch.page_size = random_.pick<unsigned>({0, 2, 500});
        config.watch.watch_list = random_.one_in(2);
        if (random_.one_in(3)) config.watch.gzip = Compression::always;
        return config;
    }
    void change() {
        const std::string name = random_.numbered("p", 12);
        names_.insert(name);
        if (random_.one_in(3)) {
            sim_.server.remove("pods", "default", name);
        } else {
            sim_.server.apply(pod({.name = name, .ip = "10.0.0." + random_.numbered("", 250)}));
        }
    }
    /// A state that is outdated for minutes has an error, or waits for a reported reason.
    void check_reported(int minute) {
        const WatchStatus watch = host_.discoverer->status().watches.at(0);
        CHECK(watch.message.find(token) == std::string::npos);
        if (minute < 15) return;
        const TimePoint now = sim_.clock->now();
        const auto age = [&](const std::optional<TimePoint>& at) {
            return at ? now - *at : Duration::max();
        };
        const Duration news =
            std::min({age(watch.last_event), age(watch.last_bookmark), age(watch.last_list)});
        CAPTURE(minute, to_string(watch.waiting), news.count());
        if (news > 16min) CHECK(watch.error);
    }

    Random random_;
    Simulation sim_;
    NastyServer nasty_;
    NastyFrames frames_;
    Host host_;
    std::set<std::string> names_;
};

/// Floods of frames take their time.
std::uint64_t runs() { return is_by_http2() ? 250 : 2000; }

}  // namespace

TEST_CASE("Nasty servers: whatever they do, requests are bounded, and in the end all is right") {
    for_each_seed("NASTY", runs(), [&](std::uint64_t seed) {
        Scenario scenario(seed);
        scenario.run();
        scenario.check_end();
    });
}

// --- the forms of lists --------------------------------------------------------------------------

namespace {

/// A server that treats each form of a list (streamed, in pages, in one piece; in protobuf or JSON)
/// in a different but constant way. At least one form is answered correctly.
class FormServer {
 public:
    /// \param forms  the number of requested forms: the first ones of ways_
    FormServer(Random& random, Simulation& sim, unsigned forms)
        : random_(random), sim_(sim), forms_(forms) {
        change();
    }

    /// From now on the server treats them differently.
    void change() {
        for (unsigned& way : ways_) way = random_.one_in(4) ? right : random_.below(right);
        ways_[random_.below(forms_)] = right;
        sim_.server.set_intercept([this](const sim::Request& request) { return answer(request); });
    }
    /// Expires the version of the watch, and adds a pod.
    void expire(const std::string& name) {
        sim_.server.apply(pod({.name = name}));
        expired_ = true;
        sim_.server.end_watches();
    }
    std::string text() const {
        std::string text;
        for (const unsigned way : ways_) text += std::to_string(way) + " ";
        return text;
    }
    /// The requests, and the status of each response.
    std::string requests() const {
        std::string text;
        for (const auto& record : sim_.server.requests()) {
            const sim::Request& request = record.request;
            text += request.target + (in_protobuf(request) ? " in protobuf: " : ": ") +
                    std::to_string(record.status) + "\n";
        }
        return text;
    }
    std::size_t take_lists() {
        std::size_t lists = 0;
        for (const auto& record : sim_.server.requests())
            lists += is_list(record.request) ? 1U : 0U;
        sim_.server.clear_requests();
        return lists;
    }

 private:
    static constexpr unsigned right = 34;

    static bool is_streamed(const sim::Request& request) {
        return !request.param("sendInitialEvents").empty();
    }
    static bool is_list(const sim::Request& request) {
        if (request.path == "/version") return false;
        return !request.is_watch() || is_streamed(request);
    }
    static bool in_protobuf(const sim::Request& request) {
        return contains(std::string(*request.header("Accept")), "vnd.kubernetes.protobuf");
    }
    std::optional<sim::Response> answer(const sim::Request& request) {
        if (!is_list(request)) {
            if (!request.is_watch()) return std::nullopt;
            if (!std::exchange(expired_, false)) return std::nullopt;
            return sim::Response::failure(410, "Expired", "too old resource version");
        }
        const std::size_t shape = is_streamed(request) ? 0 : request.param("limit").empty() ? 1 : 2;
        return act(ways_[2 * shape + (in_protobuf(request) ? 1 : 0)], request);
    }
    static std::optional<sim::Response> act(unsigned way, const sim::Request& request) {
        using sim::Response;
        constexpr unsigned refusals[] = {400, 401, 403, 405, 406, 408, 409, 410, 415,
                                         422, 429, 500, 501, 502, 503, 504, 301, 204};
        if (way == right) return std::nullopt;
        if (way < std::size(refusals)) return Response::failure(refusals[way], "Reason", "no");
        switch (way) {
            case 18: return Response::never();
            case 19: return Response::never();
            case 20: return Response::disconnect();
            case 21: return other_type("text/html", "<html>no</html>");
            case 22: return other_type("application/json", "garbage");
            case 23: return other_type("application/vnd.kubernetes.protobuf", "garbage");
            case 24: return other_type("application/json", "");
            case 25: return compressed("br", "???");
            case 26: return busy();
            case 27:
                // 404 to a LIST means that the API itself is missing.
                if (is_streamed(request)) return Response::failure(404, "NotFound", "no");
                return cut(list());
            case 28: return is_streamed(request) ? cut(event()) : other_type("", cut_text(list()));
            case 29: return packed(gzip(event()).substr(0, 30));
            case 30: return packed(gzip(event()) + "garbage");
            case 31: return packed("\x1F\x8B\x08 is not gzip");
            case 32: return strict(request);
            default:
                return is_streamed(request) ? other_type("application/json", event()) : cut(list());
        }
    }
    static sim::Response other_type(const std::string& type, std::string body) {
        sim::Response response;
        response.content_type = type;
        response.body = std::move(body);
        return response;
    }
    static sim::Response compressed(const std::string& coding, std::string body) {
        sim::Response response = other_type("application/json", std::move(body));
        response.headers.emplace_back("Content-Encoding", coding);
        return response;
    }
    static sim::Response packed(std::string body) { return compressed("gzip", std::move(body)); }
    /// Refuses a parameter of Accept.
    static std::optional<sim::Response> strict(const sim::Request& request) {
        if (!contains(std::string(*request.header("Accept")), ";drop=")) return std::nullopt;
        return sim::Response::failure(406, "NotAcceptable", "no");
    }
    static sim::Response busy() {
        sim::Response response = sim::Response::failure(503, "Unavailable", "later");
        response.headers.emplace_back("Retry-After", "2");
        return response;
    }
    static sim::Response cut(const std::string& text) {
        sim::Response response = other_type("application/json", text);
        response.cut_after = text.size() / 2;
        return response;
    }
    static std::string cut_text(const std::string& text) { return text.substr(0, text.size() / 2); }
    static std::string list() {
        return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]})";
    }
    static std::string event() {
        return R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"p0","namespace":)"
               R"("default","resourceVersion":"1"}}})"
               "\n";
    }

    Random& random_;
    Simulation& sim_;
    const unsigned forms_;
    std::array<unsigned, 6> ways_{};  // streamed, whole, pages; each in JSON and protobuf
    bool expired_ = false;
};

}  // namespace

TEST_CASE("Nasty servers: where one form of a list gets through, a list takes a minute at most") {
    for_each_seed("NASTY", runs(), [&](std::uint64_t seed) {
        Random random(seed);
        Simulation sim;
        WatchOptions options;
        options.page_size = random.pick<unsigned>({0, 500, 500});
        FormServer forms(random, sim, options.page_size == 0 ? 4 : 6);
        options.gzip = random.pick<Compression>({Compression::automatic, Compression::always});
        sim.server.apply(pod({.name = "p0"}));
        WatchProbe probe(sim, {}, options);
        for (int list = 0; list < 3; ++list) {
            INFO("list " << list << " of " << forms.text());
            const std::string name = "p" + std::to_string(list);
            if (list == 0) probe.start();
            sim.advance(60s);
            INFO(forms.requests() << probe.status().message);
            CHECK(probe.synced == 1);
            CHECK(probe.names().contains(name));
            CHECK(forms.take_lists() <= 25);
            sim.advance(10min);
            CHECK_FALSE(probe.status().error);
            // The next version expires on a server with changed behaviour.
            forms.change();
            forms.take_lists();
            forms.expire("p" + std::to_string(list + 1));
        }
    });
}
