// When a label leaves the passes that it shares with others, and when a deciding pass is worth its time.
#pragma once

#include <cstdint>

namespace widemargin {

// The estimate adds up slacks from before each step: at the end of a pass the gap is about two thirds of it,
// or more if examples were shrunk wrongly.
constexpr double kEstimateExcess = 1.2;
// After a deciding pass that found the gap too large, the next one waits for an estimate this much smaller.
constexpr double kMoreCareful = 0.7;
// In a task of fewer labels the lanes are mostly empty, and a label alone is faster.
constexpr std::int64_t kFewestLabels = 3;
// Single precision cannot show smaller gaps, nor spreads of gradients; and it may stall before, at large
// costs.
constexpr double kSmallestSingleGap = 1e-4, kSmallestSingleSpread = 1e-3;
constexpr std::int64_t kPatience = 20;
// A row visited for 16 lanes costs about as much as two or three visits by one label, so a label with fewer
// active examples than this share goes on alone. Its own share only: results must not depend on its
// neighbors.
constexpr double kAloneShare = 0.15;

}  // namespace widemargin
