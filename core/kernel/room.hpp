// How far a multiplier alpha can move between 0 and its upper bound, in terms of y alpha.
#pragma once

namespace widemargin {

// By how much y alpha can still rise (way = 1) or fall (way = -1).
inline double room_of(double y, double alpha, double upper, double way) {
    return y * way > 0 ? upper - alpha : alpha;
}

// alpha after y alpha has moved by `step` that way; a step that takes all the room ends exactly at the bound.
inline double moved_alpha(double y, double alpha, double upper, double way, double step) {
    if (step != room_of(y, alpha, upper, way)) return alpha + y * way * step;
    return y * way > 0 ? upper : 0.0;
}

inline bool can_rise(double y, double alpha, double upper) { return room_of(y, alpha, upper, 1) > 0; }
inline bool can_fall(double y, double alpha, double upper) { return room_of(y, alpha, upper, -1) > 0; }

}  // namespace widemargin
