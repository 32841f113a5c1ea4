#include "k8s_sd/api/pod.hpp"
#include "k8s_sd/detail/codec/list_watch_reader.hpp"
#include "k8s_sd/detail/kinds/schema.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace k8s_sd;
using namespace k8s_sd::detail;
using Catch::Matchers::ContainsSubstring;
using Calls = std::vector<std::string>;

namespace {

/// A decoder of an invented encoding for pods: a document is a line of words. The first one is the
/// type of an event ("-" for none, "item" for an item of a list), followed by "ns/name",
/// "@version", "kind=", "code=", "message=", "cause=", "bad=" for an error of the object, "large".
/// A list is "list" with "kind=", "@version", "continue=" and "items", possibly in several lines.
/// "nonsense" and "cut" produce malformed and truncated documents.
class LineDecoder final : public Decoder {
 public:
    LineDecoder(Scratch& scratch, DocumentSink& sink) : scratch_(scratch), sink_(sink) {}

    void begin(Document) override {
        ++bodies;
        head_ = {};
        problem_.clear();
    }
    error_code feed(std::string_view line) override {
        problem_.clear();
        if (line == "nonsense") return fail(errc::malformed_response);
        if (line == "cut") cut_ = true;
        std::istringstream words{std::string(line)};
        std::string first;
        words >> first;
        if (first == "list") return read_list(words);
        return first == "cut" ? error_code() : read_object(first, words);
    }
    error_code finish() override {
        return std::exchange(cut_, false) ? fail(errc::truncated_response) : error_code();
    }
    void release() override { ++releases; }
    const ListHead& list() const noexcept override { return head_; }
    const std::string& problem() const noexcept override { return problem_; }

    int bodies = 0;
    int releases = 0;

 private:
    error_code fail(errc what) {
        problem_ = "no lines of words";
        return what;
    }
    error_code read_list(std::istream& words) {
        for (std::string word; words >> word;) {
            if (word[0] == '@') head_.resource_version = word.substr(1);
            if (word.starts_with("kind=")) head_.kind = word.substr(5);
            if (word.starts_with("continue=")) head_.continue_token = word.substr(9);
            head_.has_items = head_.has_items || word == "items";
        }
        return {};
    }
    error_code read_object(const std::string& type, std::istream& words) {
        auto& meta = static_cast<api::Pod*>(scratch_.model())->metadata;
        auto& head = model::Document<api::Pod>::head_of(scratch_.model());
        std::vector<std::string> texts{std::istream_iterator<std::string>(words), {}};
        ObjectProblem problem;
        for (const std::string& text : texts) {
            const std::string_view word = text;
            const auto value = [&](std::string_view name) {
                return word.starts_with(name) ? word.substr(name.size()) : std::string_view();
            };
            const std::size_t slash = word.find('/');
            if (slash != word.npos) {
                meta.namespace_ = word.substr(0, slash);
                meta.name = word.substr(slash + 1);
            }
            if (const auto v = value("@"); !v.empty()) meta.resource_version = v;
            if (const auto v = value("kind="); !v.empty()) head.kind = v;
            if (const auto v = value("code="); !v.empty())
                head.status.code = std::stoi(text.substr(5));
            if (const auto v = value("message="); !v.empty()) head.status.message = v;
            if (const auto v = value("cause="); !v.empty()) head.status.causes.push_back({v, {}});
            if (const auto v = value("bad="); !v.empty()) problem.text = v;
            problem.too_large = problem.too_large || word == "large";
        }
        error_code ec;
        if (type == "item") {
            ec = sink_.on_item(head_.kind, problem);
        } else {
            ec = sink_.on_event(type == "-" ? "" : type, problem);
        }
        scratch_.clear();
        return ec;
    }

    Scratch& scratch_;
    DocumentSink& sink_;
    ListHead head_;
    bool cut_ = false;
    std::string problem_;
};

std::vector<LineDecoder*> made;

std::unique_ptr<Decoder> make_line_decoder(std::string_view content_type, const KindSchema& schema,
                                           Scratch& scratch, std::size_t, DocumentSink& sink) {
    CHECK(schema.kind == Kind::pod);
    if (!content_type.starts_with("application/")) return nullptr;
    auto decoder = std::make_unique<LineDecoder>(scratch, sink);
    made.push_back(decoder.get());
    return decoder;
}

class Fixture final : private EventSink {
 public:
    Fixture() { made.clear(); }

    bool begin(Document document, std::string_view content_type = "application/json") {
        reader.expect(document);
        return reader.choose_decoder(content_type);
    }
    Calls watch(const std::vector<std::string>& lines) { return read(Document::watch, lines); }
    Calls list(const std::vector<std::string>& lines) { return read(Document::list, lines); }

    ListWatchReader reader{schema_of(Kind::pod), 1000, *this, make_line_decoder};
    error_code ec;

 private:
    Calls read(Document document, const std::vector<std::string>& lines) {
        calls_.clear();
        ec = {};
        REQUIRE(begin(document));
        for (std::size_t i = 0; i < lines.size() && !ec; ++i) ec = reader.feed(lines[i]);
        if (!ec) ec = reader.finish();
        return calls_;
    }

    static std::string key(std::string_view ns, std::string_view name, std::string_view version) {
        return std::string(ns) + "/" + std::string(name) + " @" + std::string(version);
    }
    void on_object(EventType type, const DecodedObject& object) override {
        static constexpr const char* names[] = {"added ", "modified ", "deleted "};
        CHECK(object.kind == Kind::pod);
        const auto& meta = static_cast<const api::Pod*>(object.model)->metadata;
        CHECK(&meta == &object.meta);
        calls_.push_back((object.kind_is_certain ? "" : "perhaps ") +
                         std::string(names[static_cast<int>(type)]) +
                         key(meta.namespace_, meta.name, meta.resource_version));
    }
    void on_bookmark(std::string_view version, bool list_ends) override {
        calls_.push_back("bookmark @" + std::string(version) +
                         (list_ends ? ", the list ends" : ""));
    }
    void on_error_event(const ServerStatus& status) override {
        std::string call = "error " + std::to_string(status.code) + " " + status.message;
        for (const auto& cause : status.causes) call += "(" + cause.reason + ")";
        calls_.push_back(std::move(call));
    }
    void on_bad_object(const BadObject& bad) override {
        CHECK((bad.ec == errc::bad_object || bad.ec == errc::object_too_large));
        calls_.push_back((bad.ec == errc::bad_object ? "bad " : "large ") +
                         key(bad.ns, bad.name, bad.resource_version) + ": " +
                         std::string(bad.problem));
    }

    Calls calls_;
};

}  // namespace

TEST_CASE("ListWatchReader: each type of event has its call, with the object's version") {
    Fixture f;
    CHECK(f.watch({"ADDED n/a @1", "MODIFIED n/a @2 kind=Pod", "DELETED n/a @3", "BOOKMARK @9"}) ==
          Calls{"added n/a @1", "modified n/a @2", "deleted n/a @3", "bookmark @9"});
    CHECK_FALSE(f.ec);
    CHECK(f.reader.problem().empty());
}

TEST_CASE("ListWatchReader: an ERROR event brings the server's status") {
    Fixture f;
    CHECK(f.watch({"ERROR code=410 message=expired", "ERROR", "ERROR code=-5",
                   "ERROR code=504 cause=ResourceVersionTooLarge", "ERROR code=504 cause=Other"}) ==
          Calls{"error 410 expired", "error 0 ", "error 0 ", "error 504 (ResourceVersionTooLarge)",
                "error 504 (Other)"});
    CHECK_FALSE(f.ec);
}

TEST_CASE("ListWatchReader: an event of an unknown type is a bad object, and the stream goes on") {
    Fixture f;
    const Calls calls =
        f.watch({"added n/a @1", "BOOKMARKS @2", std::string(500, 'X') + " n/a", "ADDED n/b @3"});
    REQUIRE(calls.size() == 4);
    CHECK(calls[0] == "bad n/a @1: an event of the unknown type \"added\"");
    CHECK(calls[1] == "bad / @2: an event of the unknown type \"BOOKMARKS\"");
    CHECK(calls[2].size() < 100);
    CHECK(calls[3] == "added n/b @3");
}

TEST_CASE("ListWatchReader: a document without the type of an event ends the stream") {
    Fixture f;
    CHECK(f.watch({"ADDED n/a @1", "- n/b @2", "ADDED n/c @3"}) == Calls{"added n/a @1"});
    CHECK(f.ec == errc::malformed_response);
    CHECK_THAT(f.reader.problem(), ContainsSubstring("not events"));
}

TEST_CASE("ListWatchReader: an object that cannot be used is bad, with the reason") {
    Fixture f;
    CHECK(f.watch({"ADDED n/a @1 bad=spec", "MODIFIED n/a @2 bad=size large",
                   "ADDED n/a @3 kind=Service", "ADDED n/ @4", "ADDED /a @5", "ADDED"}) ==
          Calls{"bad n/a @1: spec", "large n/a @2: size",
                "bad n/a @: an object of the kind Service and not Pod",
                "bad n/ @4: an object without a name", "bad /a @5: an object without a namespace",
                "bad / @: an object without a name"});
    CHECK_FALSE(f.ec);
}

TEST_CASE("ListWatchReader: an object with a name too long is bad, its deletion is not") {
    Fixture f;
    const std::string good(65'535, 'a'), bad(65'536, 'b');
    const std::string reason = " @2: an object with a name too long";
    CHECK(f.watch({"ADDED n/" + good + " @1", "ADDED n/" + bad + " @2", "ADDED " + bad + "/a @2",
                   "DELETED n/" + bad + " @3"}) ==
          Calls{"added n/" + good + " @1", "bad n/" + bad + reason, "bad " + bad + "/a" + reason,
                "deleted n/" + bad + " @3"});
    CHECK_FALSE(f.ec);
}

TEST_CASE("ListWatchReader: of a deleted object only the name is needed") {
    Fixture f;
    CHECK(f.watch({"DELETED n/a @1 bad=spec", "DELETED n/b @2 bad=size large",
                   "DELETED n/c @4 kind=Service"}) ==
          Calls{"deleted n/a @1", "deleted n/b @2",
                "bad n/c @: an object of the kind Service and not Pod"});
    CHECK_FALSE(f.ec);
}

TEST_CASE("ListWatchReader: a deletion without a name ends the stream, and a list follows") {
    Fixture f;
    for (const std::string& event : {std::string("DELETED n/ @3"), std::string("DELETED /a @3"),
                                     "DELETED n/a @" + std::string(1025, '1')}) {
        CAPTURE(event);
        CHECK(f.watch({"ADDED n/a @1", event, "ADDED n/c @4"}) == Calls{"added n/a @1"});
        CHECK(f.ec == errc::malformed_response);
        CHECK_THAT(f.reader.problem(), ContainsSubstring("a DELETED event has "));
    }
}

TEST_CASE("ListWatchReader: the items of a list are added objects") {
    Fixture f;
    CHECK(f.list({"list kind=PodList @7", "item n/a @1", "item n/b @2 bad=spec",
                  "item n/c @3 kind=Pod", "list continue=t items"}) ==
          Calls{"added n/a @1", "bad n/b @2: spec", "added n/c @3"});
    CHECK_FALSE(f.ec);
    CHECK(f.reader.resource_version() == "7");
    CHECK(f.reader.continue_token() == "t");
}

TEST_CASE("ListWatchReader: a list must be one of the kind, with items and a version") {
    struct Row {
        const char* list;
        error_code ec;
        const char* problem;
    };
    Fixture f;
    for (const Row& row : std::initializer_list<Row>{
             {"list @7 items", {}, ""},
             {"list kind=List @7 items", {}, ""},
             {"list kind=ServiceList @7 items", errc::malformed_response,
              "the server answered with the kind ServiceList instead of PodList; is the path in "
              "the server's URL right?"},
             {"list kind=Status @7 items", errc::malformed_response, "instead of PodList"},
             {"list kind=PodList @7", errc::malformed_response, "no items"},
             {"list kind=PodList items", errc::missing_resource_version, "resourceVersion"},
             {"list kind=PodList @0 items", errc::missing_resource_version, "names no state"}}) {
        CAPTURE(row.list);
        CHECK(f.list({row.list}).empty());
        CHECK(f.ec == row.ec);
        CHECK_THAT(f.reader.problem(), ContainsSubstring(row.problem));
        CHECK(f.reader.problem().empty() == !row.ec);
    }
}

TEST_CASE("ListWatchReader: a list of another kind ends before its first item") {
    Fixture f;
    CHECK(f.list({"list kind=ServiceList @7", "item n/a @1", "item n/b @2"}).empty());
    CHECK(f.ec == errc::malformed_response);
    CHECK_THAT(f.reader.problem(), ContainsSubstring("ServiceList instead of PodList"));
    CHECK(f.list({"list kind=" + std::string(500, 'X'), "item n/a @1 bad=spec"}).empty());
    CHECK(f.reader.problem().size() < 200);
}

TEST_CASE("ListWatchReader: an item that comes before the kind of its list says its own") {
    Fixture f;
    CHECK(f.list({"item n/a @1 kind=Pod", "item n/b @2 kind=Service", "item / bad=number",
                  "list kind=PodList @7 items"}) ==
          Calls{"added n/a @1", "bad n/b @: an object of the kind Service and not Pod",
                "bad / @: number"});
    CHECK_FALSE(f.ec);
    CHECK(f.list({"list kind=List", "item n/a @1 kind=Pod", "item n/b @2", "item n/c @3 kind=Pod",
                  "list kind=PodList @7 items"}) == Calls{"added n/a @1"});
    CHECK(f.ec == errc::malformed_response);
    CHECK_THAT(f.reader.problem(), ContainsSubstring("neither the list nor its items say"));
}

TEST_CASE("ListWatchReader: of what kind items were is certain at the end, at the latest") {
    Fixture f;
    const Calls calls{"perhaps added n/a @1", "added n/b @2", "perhaps added n/c @3"};
    const auto list_that_ends = [&](const std::string& head) {
        return f.list({"list", "item n/a @1", "item n/b @2 kind=Pod", "item n/c @3", head});
    };
    CHECK(list_that_ends("list kind=PodList @7 items") == calls);
    CHECK_FALSE(f.ec);
    for (const char* kind : {"", " kind=List", " kind=ServiceList"}) {
        CHECK(list_that_ends("list" + std::string(kind) + " @7 items") == calls);
        CHECK(f.ec == errc::malformed_response);
    }
}

TEST_CASE("ListWatchReader: nothing of another kind moves the version of a watch") {
    Fixture f;
    CHECK(f.watch({"BOOKMARK @5 kind=Service", "BOOKMARK @6 kind=Pod", "MODIFIED n/a @7 kind=Node",
                   "BOOKMARK @8"}) ==
          Calls{"bad / @: an object of the kind Service and not Pod", "bookmark @6",
                "bad n/a @: an object of the kind Node and not Pod", "bookmark @8"});
    CHECK_FALSE(f.ec);
}

TEST_CASE("ListWatchReader: versions and tokens too long for a request are not taken") {
    Fixture f;
    const std::string good(1024, '1'), bad(1025, '1');
    CHECK(f.list({"list kind=PodList @" + good + " items continue=" + std::string(32768, 't')})
              .empty());
    CHECK_FALSE(f.ec);
    f.list({"list kind=PodList @" + bad + " items"});
    CHECK(f.ec == errc::malformed_response);
    CHECK(f.reader.problem() == "the list's metadata.resourceVersion is too long");
    f.list({"list kind=PodList @7 items continue=" + std::string(32769, 't')});
    CHECK(f.ec == errc::malformed_response);
    CHECK(f.reader.problem() == "the list's metadata.continue is too long");
    CHECK(f.watch({"BOOKMARK @" + bad, "ADDED n/a @" + bad, "ADDED n/b bad=spec @" + bad,
                   "BOOKMARK @" + good}) == Calls{"bad / @: a resource version too long",
                                                  "bad n/a @: a resource version too long",
                                                  "bad n/b @: spec", "bookmark @" + good});
}

TEST_CASE("ListWatchReader: what the decoder cannot read ends the body, in the decoder's words") {
    Fixture f;
    CHECK(f.watch({"ADDED n/a @1", "nonsense", "ADDED n/b @2"}) == Calls{"added n/a @1"});
    CHECK(f.ec == errc::malformed_response);
    CHECK(f.reader.problem() == "no lines of words");
    CHECK(f.list({"item n/a @1 kind=Pod", "cut"}) == Calls{"added n/a @1"});
    CHECK(f.ec == errc::truncated_response);
    CHECK(f.reader.problem() == "no lines of words");
}

TEST_CASE("ListWatchReader: the next request finds nothing of the last response") {
    Fixture f;
    f.list({"list @7 continue=t items"});
    f.watch({"nonsense"});
    f.reader.expect(Document::list);
    CHECK(f.reader.problem().empty());
    CHECK(f.reader.resource_version().empty());
    CHECK(f.reader.continue_token().empty());
}

TEST_CASE("ListWatchReader: the decoder is chosen by content type when the head is there") {
    Fixture f;
    CHECK(made.empty());
    f.reader.release();  // nothing to return yet
    CHECK_FALSE(f.begin(Document::list, "text/html"));
    CHECK(f.begin(Document::list));
    CHECK(f.begin(Document::watch));
    REQUIRE(made.size() == 1);  // serves every response of the type
    CHECK(made[0]->bodies == 2);
    f.reader.release();
    CHECK(made[0]->releases == 1);
    CHECK(f.begin(Document::watch, "application/vnd.kubernetes.protobuf"));
    CHECK(made.size() == 2);
}

TEST_CASE(
    "make_decoder: JSON and protobuf are decoded, and a body without a type is tried as JSON") {
    struct Sink final : DocumentSink {
        error_code on_item(std::string_view, const ObjectProblem&) override { return {}; }
        error_code on_event(std::string_view, const ObjectProblem&) override { return {}; }
    } sink;
    const KindSchema& schema = schema_of(Kind::pod);
    const auto scratch = schema.make_scratch();
    const auto made_for = [&](std::string_view type) {
        return make_decoder(type, schema, *scratch, 1000, sink) != nullptr;
    };
    CHECK(made_for("application/json"));
    CHECK(made_for("application/vnd.kubernetes.protobuf"));
    CHECK(made_for(""));
    for (const char* type : {"text/html", "text/plain", "application/yaml", "application/protobuf",
                             "application/json;charset=utf-8", "json"}) {
        CAPTURE(type);
        CHECK_FALSE(made_for(type));
    }
}
