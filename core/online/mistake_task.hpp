// Inputs and outputs of online/mistake_driven.hpp: the options of a learner, its state, and the documents'
// signs.
#pragma once

#include <cstdint>
#include <vector>

#include "online/log_weights.hpp"
#include "online/update_rules.hpp"

namespace widemargin {

enum class MistakeRule { kAdditive, kPositiveWinnow, kBalancedWinnow, kLogWinnow, kComplementWinnow };

struct MistakeOptions : LogWeightForm {
    MistakeRule rule;
    double promotion;  // or the rate of the additive and the log rule
    double demotion;
    bool by_strength;              // additive rule: steps are multiplied by the strength
    double theta_low, theta_high;  // theta-, theta+
    double bias;                   // size of the constant feature, 0 for none
    bool normalized_strength;
    bool sums_of_kept;  // discarded features do not count in the sum that normalizes a document
    bool link_on_sight;
    double start;  // initial weight of a linked feature
    BalancedParts start_parts;
    double discard_below;              // mistakes per pass; 0: never discard
    double discard_low, discard_high;  // the filtering range
    std::int64_t max_passes;
    bool shuffle;
    std::uint64_t seed;

    // The weight of every feature before the first document.
    double first_weight() const { return link_on_sight ? 0.0 : start; }
    BalancedParts first_parts() const { return link_on_sight ? BalancedParts{0.0, 0.0} : start_parts; }
};

enum Link : std::uint8_t { kUnlinked = 0, kLinked = 1, kDiscarded = 2 };

// The feature has this weight from `time` on, in documents that the label has seen.
struct WeightChange {
    std::int32_t label, feature;
    std::int64_t time;
    double weight;
};

// n documents, L labels, d features (one more with a bias feature).
struct MistakeProblem {
    std::int64_t n_labels;
    const std::int8_t* signs;       // L x n
    const std::int64_t* first_row;  // L: first document of a label
};

// Arrays are null if the options do not need them. Features x labels; sums and links are labels x features.
struct MistakeState : LogWeightSums {
    // The state is the initial one, and the arrays of weights, parts and logs are not filled yet.
    bool fresh;
    double* weights;
    BalancedParts* parts;  // balanced Winnow, complements
    double* logs;          // v of the log rule
    double* sums;          // for averages
    std::uint8_t* links;
    // One per label.
    double* clock;  // for averages
    std::int64_t* seen;
    std::int64_t* mistakes;
    double* complements;  // M of the rule with complements, null for others
    double* unseen;       // the complement's weight of a feature that no document has had
};

struct MistakeResults {
    std::int64_t* passes;       // L
    double* scores;             // n x L before learning, or null
    std::int64_t* labels_done;  // counter
};

struct MistakeTask : MistakeProblem, MistakeState, MistakeResults {
    std::vector<WeightChange>* history;  // or null
};

}  // namespace widemargin
