#include "k8s_sd/detail/watch/list_forms.hpp"

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace k8s_sd::detail {
namespace {

using Words = std::vector<std::string>;
using Evidence = ListForms::Evidence;

std::string words(const ListRequestForm& form) {
    constexpr const char* names[] = {"pages", "whole", "streamed"};
    return names[static_cast<std::size_t>(form.shape)] +
           std::string(form.other_encoding ? " otherwise" : "");
}

/// The forms of the first round.
Words order(const ListForms::Choice& choice) {
    ListForms forms;
    forms.begin(choice);
    Words found;
    for (; forms.in_first_round(); forms.on_failure(true)) found.push_back(words(forms.current()));
    return found;
}

ListForms begun(const ListForms::Choice& choice = {.streams_first = true}) {
    ListForms forms;
    forms.begin(choice);
    return forms;
}

TEST_CASE("ListForms: each form has its turn once, and both dimensions change early") {
    struct {
        ListForms::Choice choice;
        Words order;
    } const rows[] = {
        {{}, {"pages", "whole"}},
        {{.usual = ListShape::whole}, {"whole", "pages"}},
        {{.pages = false}, {"whole"}},
        {{.usual = ListShape::pages, .pages = false, .other_encoding = true},
         {"whole", "whole otherwise"}},
        {{.other_encoding = true}, {"pages", "whole otherwise", "pages otherwise", "whole"}},
        {{.streams_first = true}, {"streamed", "pages", "whole"}},
        {{.streams_last = true}, {"pages", "whole", "streamed"}},
        {{.streams_first = true, .other_encoding = true},
         {"streamed", "pages", "whole otherwise", "pages otherwise", "whole",
          "streamed otherwise"}},
        {{.streams_last = true, .usual = ListShape::whole, .other_encoding = true},
         {"whole", "pages otherwise", "whole otherwise", "pages", "streamed",
          "streamed otherwise"}},
        {{.streams_first = true, .pages = false, .other_encoding = true},
         {"streamed", "whole", "whole otherwise", "streamed otherwise"}},
    };
    for (const auto& row : rows) CHECK(order(row.choice) == row.order);
}

TEST_CASE("ListForms: the first form has two tries, each of the others has one") {
    ListForms forms = begun();
    CHECK_FALSE(forms.on_failure(false));
    CHECK(words(forms.current()) == "streamed");
    CHECK(forms.on_failure(false));
    CHECK(words(forms.current()) == "pages");
    CHECK(forms.has_untried());
    CHECK(forms.on_failure(false));
    CHECK(words(forms.current()) == "whole");
    CHECK_FALSE(forms.has_untried());
    CHECK(forms.in_first_round());
    CHECK(forms.on_failure(false));
    CHECK(words(forms.current()) == "streamed");
    CHECK_FALSE(forms.in_first_round());
    CHECK(forms.on_failure(false));
    CHECK(words(forms.current()) == "pages");
}

TEST_CASE("ListForms: the form behind a stream that is not served takes the place of the first") {
    ListForms forms = begun({.streams_first = true, .other_encoding = true});
    forms.on_not_streamed();
    CHECK(words(forms.current()) == "pages");
    CHECK(forms.at_first());
    CHECK(forms.has_time());
    CHECK(forms.streams_failed());
    CHECK_FALSE(forms.on_failure(false));
    CHECK(words(forms.current()) == "pages");
    CHECK(forms.on_failure(false));
    CHECK(words(forms.current()) == "whole otherwise");
    CHECK(forms.on_failure(false));
}

TEST_CASE("ListForms: after a recovery another round begins, with the streamed forms last") {
    ListForms forms = begun({.streams_first = true, .other_encoding = true});
    while (forms.in_first_round()) forms.on_failure(true);
    forms.begin_round();
    CHECK_FALSE(forms.in_first_round());
    CHECK(words(forms.current()) == "pages");
    CHECK_FALSE(forms.streams_failed());
    for (const char* next : {"whole otherwise", "pages otherwise", "whole", "streamed"}) {
        CHECK(forms.on_failure(true));
        CHECK(words(forms.current()) == next);
    }
}

TEST_CASE("ListForms: a part that got through gives the next part a second try") {
    ListForms forms = begun();
    forms.on_failure(true);
    forms.on_part();
    CHECK_FALSE(forms.on_failure(false));
    forms.on_part();
    CHECK_FALSE(forms.on_failure(false));
    CHECK(forms.on_failure(false));
    CHECK(words(forms.current()) == "whole");
}

TEST_CASE("ListForms: the form that got through teaches something about those that did not") {
    ListForms forms = begun();
    CHECK_FALSE(forms.streams_failed());
    CHECK_FALSE(forms.better_shape());
    forms.on_failure(true);
    CHECK(forms.streams_failed());
    CHECK_FALSE(forms.better_shape());  // pages are the usual form of LIST
    forms.on_failure(true);
    CHECK(forms.streams_failed());
    CHECK(forms.better_shape() == ListShape::whole);
}

TEST_CASE("ListForms: an encoding is learned where the usual one failed") {
    ListForms forms = begun({.other_encoding = true});
    CHECK_FALSE(forms.usual_encoding_failed());
    CHECK(forms.at_first());
    forms.on_failure(true);
    CHECK(words(forms.current()) == "whole otherwise");
    CHECK_FALSE(forms.at_first());
    CHECK(forms.usual_encoding_failed());
    ListForms absent = begun({.other_encoding = true});
    absent.on_failure(true, Evidence::none);  // a missing API says nothing about forms
    CHECK_FALSE(absent.usual_encoding_failed());
    CHECK_FALSE(absent.better_shape());
}

TEST_CASE("ListForms: pages that cannot go on are followed by another shape of the same encoding") {
    ListForms forms = begun({.other_encoding = true});
    forms.on_part();
    CHECK(forms.on_failure(true, Evidence::against_shape));
    CHECK(words(forms.current()) == "whole");
    CHECK(forms.better_shape() == ListShape::whole);
    for (const char* next : {"whole otherwise", "pages otherwise"}) {
        CHECK(forms.in_first_round());
        CHECK(forms.on_failure(true));
        CHECK(words(forms.current()) == next);
        CHECK(forms.usual_encoding_failed());  // in one piece
    }
}

TEST_CASE("ListForms: pages that cannot go on say nothing about their encoding") {
    ListForms forms = begun({.pages = false, .other_encoding = true});
    CHECK(forms.on_failure(true, Evidence::against_shape));
    CHECK(words(forms.current()) == "whole otherwise");
    CHECK_FALSE(forms.usual_encoding_failed());
}

TEST_CASE("ListForms: there is time for a long response until a form has timed out") {
    ListForms forms = begun({.streams_first = true, .other_encoding = true});
    CHECK(forms.has_time());
    forms.on_not_streamed();
    CHECK(forms.has_time());
    forms.on_failure(true);
    CHECK(forms.has_time());
    forms.on_timeout();
    CHECK_FALSE(forms.has_time());
    forms.begin({});
    CHECK(forms.has_time());
    while (forms.in_first_round()) forms.on_failure(true);
    CHECK_FALSE(forms.has_time());
}

TEST_CASE("ListForms: what was skipped has not failed") {
    ListForms forms = begun();
    forms.skip();
    CHECK(words(forms.current()) == "pages");
    CHECK_FALSE(forms.streams_failed());
    forms.on_failure(true);
    forms.on_failure(true);
    CHECK(words(forms.current()) == "streamed");  // it may work now
    CHECK(forms.in_first_round());
    forms.skip();
    CHECK_FALSE(forms.in_first_round());
}

TEST_CASE("ListForms: once all have failed it was the server, and nothing is learned of forms") {
    ListForms forms = begun();
    for (int i = 0; i < 4; ++i) forms.on_failure(true);
    CHECK(words(forms.current()) == "pages");
    CHECK_FALSE(forms.in_first_round());
    CHECK_FALSE(forms.streams_failed());
    CHECK_FALSE(forms.better_shape());
}

}  // namespace
}  // namespace k8s_sd::detail
