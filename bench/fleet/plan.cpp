#include "plan.hpp"

namespace bench {

using namespace std::chrono_literals;
using What = Step::What;

std::vector<Plan> plans() {
    return {
        {.name = "rolling restart",
         .text = "A StatefulSet of 10 restarts its pods, one after the other.",
         .steps = {{0s, What::restart}},
         .length = 20min},
        {.name = "scale 3 → 10",
         .text = "Seven members come at once.",
         .members = 3,
         .steps = {{0s, What::scale, 10}},
         .length = 5min},
        {.name = "scale 10 → 5",
         .text = "Five members leave at once.",
         .steps = {{0s, What::scale, 5}},
         .length = 5min},
        {.name = "crash",
         .text = "One of 10 dies. Its container is restarted after a minute.",
         .steps = {{0s, What::crash, 3}},
         .length = 5min},
        {.name = "crash, two owners",
         .text = "The same, with two owners for each target.",
         .replicas = 2,
         .steps = {{0s, What::crash, 3}},
         .length = 5min},
        {.name = "node loss",
         .text = "The node of one of 10 is gone, and stays so.",
         .steps = {{0s, What::lose_node, 3}},
         .length = 10min},
        {.name = "API outage",
         .text = "The API server is away for 10 minutes.",
         .steps = {{0s, What::api_away}, {10min, What::api_back}},
         .length = 15min},
        {.name = "API outage, crash",
         .text = "The same, and one of 10 dies in the second minute.",
         .steps = {{0s, What::api_away}, {2min, What::crash, 3}, {10min, What::api_back}},
         .length = 15min},
        {.name = "the same, two owners",
         .text = "The same, with two owners for each target.",
         .replicas = 2,
         .steps = {{0s, What::api_away}, {2min, What::crash, 3}, {10min, What::api_back}},
         .length = 15min},
        {.name = "late views",
         .text = "Each of 10 sees everything up to 4 s late, while they are restarted.",
         .slowest = 4s,
         .steps = {{0s, What::restart}},
         .length = 20min},
        {.name = "split views, one joins",
         .text = "5 of 10 cannot ask the API server for 5 minutes. One joins.",
         .steps = {{0s, What::cut, 5}, {30s, What::scale, 11}, {5min, What::uncut}},
         .length = 10min},
        {.name = "split views, one leaves",
         .text = "5 of 10 cannot ask it for 5 minutes. One of the others leaves.",
         .steps = {{0s, What::cut, 5}, {30s, What::scale, 9}, {5min, What::uncut}},
         .length = 10min},
    };
}

Plan small_plan(unsigned members) {
    return {.name = "one joins, one crashes",
            .text = "One joins, and five minutes later one crashes.",
            .members = members,
            .steps = {{0s, What::scale, members + 1}, {5min, What::crash, 0}},
            .length = 10min};
}

}  // namespace bench
