#include "cli/widgets.hpp"

#include <boost/json/object.hpp>

namespace cli {

namespace json = boost::json;

Widgets::Widgets(k8s_sd::sim::ApiServer& server) : server_(server) {
    server_.add_resource({.group = "example.com", .kind = "Widget", .plural = "widgets"});
    apply("blue", 1);
    apply("green", 1);
}

std::string Widgets::step() {
    ++steps_;
    switch (steps_ % 3) {
        case 1: apply("red", steps_); return "widget shop/red was made";
        case 2: apply("blue", steps_); return "widget shop/blue has another size";
        default: server_.remove("widgets", "shop", "red"); return "widget shop/red is gone";
    }
}

void Widgets::apply(const std::string& name, unsigned size) {
    server_.apply(json::object{{"apiVersion", "example.com/v1"},
                               {"kind", "Widget"},
                               {"metadata", json::object{{"name", name}, {"namespace", "shop"}}},
                               {"spec", json::object{{"size", size}, {"colour", name}}}});
}

}  // namespace cli
