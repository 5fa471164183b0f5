// Python's view of the mistake-driven learners, of the large-margin duals, and of AROW.
#include "bindings/bindings.hpp"
#include "online/arow.hpp"
#include "online/dual_updates.hpp"
#include "online/mistake_driven.hpp"
#include "online/vote.hpp"

namespace widemargin {

namespace {

// Balanced Winnow's two parts of a weight as an array: side by side.
struct MistakeArrays : MistakeState {
    double* pairs;
};

template <class View>
Sizes sizes_of(const View& x, double bias) {
    return {{"examples", x.n_rows}, {"features", x.n_columns + (bias > 0)}};
}

// Returns the changes of weights in order as (label, feature, time, weight) if `keep_history`, otherwise
// None.
nb::object learn_from_mistakes_arrays(const Csr& csr, const Filled<MistakeProblem>& problem,
                                      const Filled<MistakeOptions>& options,
                                      const Filled<MistakeArrays>& state,
                                      const Filled<MistakeResults>& results, bool keep_history,
                                      int n_threads) {
    std::vector<WeightChange> history;
    csr.visit(n_threads, [&](const auto& x) {
        Sizes sizes = sizes_of(x, options.core.bias);
        MistakeProblem signs = problem.fitting(sizes);
        signs.n_labels = sizes.at("labels");
        MistakeArrays arrays = state.fitting(sizes);
        arrays.parts = reinterpret_cast<BalancedParts*>(arrays.pairs);
        const MistakeTask task{signs, arrays, results.fitting(sizes), keep_history ? &history : nullptr};
        without_gil([&] { learn_from_mistakes(x, task, options.core, n_threads, poll_signals); });
    });
    if (!keep_history) return nb::none();
    std::vector<std::int32_t> label, feature;
    std::vector<std::int64_t> time;
    std::vector<double> weight;
    for (const WeightChange& change : history) {
        label.push_back(change.label);
        feature.push_back(change.feature);
        time.push_back(change.time);
        weight.push_back(change.weight);
    }
    return nb::make_tuple(owned(std::move(label)), owned(std::move(feature)), owned(std::move(time)),
                          owned(std::move(weight)));
}

void vote_rows_arrays(const Csr& csr, const Filled<VoteTask>& votes, bool normalized_strength,
                      int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        Sizes sizes{{"examples", x.n_rows}};
        VoteTask task = votes.fitting(sizes);
        task.n_labels = sizes.at("labels");
        task.n_changes = sizes.at("changes");
        std::vector<double> row_sums;
        if (normalized_strength) row_sums = sums_of_strengths(x);
        task.row_sums = normalized_strength ? row_sums.data() : nullptr;
        without_gil([&] { vote_rows(x, task, n_threads, poll_signals); });
    });
}

// A state without logs belongs to the SVM.
void learn_by_dual_updates_arrays(const Csr& csr, const Filled<DualProblem>& problem,
                                  const Filled<DualOptions>& options, const Filled<DualState>& state,
                                  const Filled<DualResults>& results, int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        Sizes sizes = sizes_of(x, options.core.bias);
        DualTask task{problem.fitting(sizes), state.fitting(sizes), results.fitting(sizes)};
        task.n_labels = sizes.at("labels");
        DualOptions method = options.core;
        method.additive = !task.logs;
        without_gil([&] { learn_by_dual_updates(x, task, method, n_threads, poll_signals); });
    });
}

void learn_confident_weights_arrays(const Csr& csr, const Filled<ArowProblem>& problem,
                                    const Filled<ArowOptions>& options, const Filled<ArowState>& state,
                                    const Filled<ArowResults>& results, int n_threads) {
    csr.visit(n_threads, [&](const auto& x) {
        Sizes sizes = sizes_of(x, options.core.bias);
        ArowTask task{problem.fitting(sizes), state.fitting(sizes), results.fitting(sizes)};
        task.n_labels = sizes.at("labels");
        without_gil([&] { learn_confident_weights(x, task, options.core, n_threads, poll_signals); });
    });
}

void register_mistake_driven(nb::module_& m) {
    using nb::arg;
    nb::enum_<MistakeRule>(m, "MistakeRule")
        .value("additive", MistakeRule::kAdditive)
        .value("positive_winnow", MistakeRule::kPositiveWinnow)
        .value("balanced_winnow", MistakeRule::kBalancedWinnow)
        .value("log_winnow", MistakeRule::kLogWinnow)
        .value("complement_winnow", MistakeRule::kComplementWinnow);
    Fields<MistakeProblem>(m, "MistakeProblem")
        .arrays(shape("labels", "examples"), "signs", &MistakeProblem::signs)
        .arrays(shape("labels"), "first_row", &MistakeProblem::first_row);
    using Options = MistakeOptions;
    Fields<Options>(m, "MistakeOptions")
        .values(
            "mu", &Options::mu, "balanced", &Options::balanced, "normalized", &Options::normalized, "total",
            &Options::total, "rule", &Options::rule, "promotion", &Options::promotion, "demotion",
            &Options::demotion, "by_strength", &Options::by_strength, "theta_low", &Options::theta_low,
            "theta_high", &Options::theta_high, "bias", &Options::bias, "normalized_strength",
            &Options::normalized_strength, "sums_of_kept", &Options::sums_of_kept, "link_on_sight",
            &Options::link_on_sight, "start", &Options::start, "start_plus",
            [](Options& o) -> double& { return o.start_parts.plus; }, "start_minus",
            [](Options& o) -> double& { return o.start_parts.minus; }, "discard_below",
            &Options::discard_below, "discard_low", &Options::discard_low, "discard_high",
            &Options::discard_high, "max_passes", &Options::max_passes, "shuffle", &Options::shuffle, "seed",
            &Options::seed);
    using State = MistakeArrays;
    Fields<State>(m, "MistakeState")
        .values("fresh", &State::fresh)
        .arrays(shape("features", "labels"), "weights", &State::weights)
        .optional(shape("features", "labels", 2), "parts", &State::pairs)
        .optional(shape("features", "labels"), "logs", &State::logs)
        .optional(shape("labels", "features"), "sums", &State::sums, "links", &State::links)
        .optional(shape("labels"), "normalizer", &State::normalizer, "peak", &State::peak)
        .optional(shape("features"), "prior", &State::prior)
        .optional(shape("labels"), "complements", &State::complements, "unseen", &State::unseen)
        .arrays(shape("labels"), "clock", &State::clock, "seen", &State::seen, "mistakes", &State::mistakes);
    Fields<MistakeResults>(m, "MistakeResults")
        .arrays(shape("labels"), "passes", &MistakeResults::passes)
        .optional(shape("examples", "labels"), "scores", &MistakeResults::scores)
        .arrays(shape(1), "labels_done", &MistakeResults::labels_done);
    m.def("learn_from_mistakes", &learn_from_mistakes_arrays, arg("csr"), arg("problem"), arg("options"),
          arg("state"), arg("results"), arg("keep_history"), arg("n_threads"));
    Fields<VoteTask>(m, "VoteTask")
        .arrays(shape("changes"), "keys", &VoteTask::keys, "times", &VoteTask::times, "weights",
                &VoteTask::weights)
        .values("start", &VoteTask::start, "bias", &VoteTask::bias, "theta", &VoteTask::theta)
        .arrays(shape("labels"), "seen", &VoteTask::seen)
        .arrays(shape("examples", "labels"), "votes", &VoteTask::votes);
    m.def("vote_rows", &vote_rows_arrays, arg("csr"), arg("task"), arg("normalized_strength"),
          arg("n_threads"));
}

void register_dual_updates(nb::module_& m) {
    using nb::arg;
    Fields<DualProblem>(m, "DualProblem")
        .arrays(shape("labels", "examples"), "signs", &DualProblem::signs)
        .arrays(shape("labels"), "first_row", &DualProblem::first_row, "cost_positive",
                &DualProblem::cost_positive, "cost_negative", &DualProblem::cost_negative)
        .optional(shape("examples"), "sample_weights", &DualProblem::sample_weights);
    using Options = DualOptions;
    Fields<Options>(m, "DualOptions")
        .values("mu", &Options::mu, "balanced", &Options::balanced, "normalized", &Options::normalized,
                "total", &Options::total, "least_mu", &DualOptions::least_mu, "eta", &DualOptions::eta,
                "bias", &DualOptions::bias, "tol", &DualOptions::tol, "max_passes", &DualOptions::max_passes,
                "shuffle", &DualOptions::shuffle, "seed", &DualOptions::seed);
    using State = DualState;
    Fields<State>(m, "DualState")
        .values("from_start", &State::from_start)
        .arrays(shape("features", "labels"), "weights", &State::weights)
        .optional(shape("features", "labels"), "logs", &State::logs)
        .optional(shape("labels"), "normalizer", &State::normalizer, "peak", &State::peak, "shift",
                  &State::shift)
        .optional(shape("features"), "prior", &State::prior);
    Fields<DualResults>(m, "DualResults")
        .arrays(shape("labels", "examples"), "alpha", &DualResults::alpha)
        .arrays(shape("labels"), "objective", &DualResults::objective, "gap", &DualResults::gap, "margin",
                &DualResults::margin, "passes", &DualResults::passes, "converged", &DualResults::converged,
                "overshoots", &DualResults::overshoots)
        .optional(shape("examples", "labels"), "scores", &DualResults::scores)
        .arrays(shape(1), "labels_done", &DualResults::labels_done);
    m.def("learn_by_dual_updates", &learn_by_dual_updates_arrays, arg("csr"), arg("problem"), arg("options"),
          arg("state"), arg("results"), arg("n_threads"));
}

void register_arow(nb::module_& m) {
    using nb::arg;
    Fields<ArowProblem>(m, "ArowProblem").arrays(shape("labels", "examples"), "signs", &ArowProblem::signs);
    using Options = ArowOptions;
    Fields<Options>(m, "ArowOptions")
        .values("r", &Options::r, "forgetting", &Options::forgetting, "rivals", &Options::rivals, "bias",
                &Options::bias, "max_passes", &Options::max_passes, "shuffle", &Options::shuffle, "seed",
                &Options::seed);
    Fields<ArowState>(m, "ArowState")
        .arrays(shape("features", "labels"), "weights", &ArowState::weights, "information",
                &ArowState::information)
        .arrays(shape("labels"), "updates", &ArowState::updates);
    Fields<ArowResults>(m, "ArowResults")
        .optional(shape("examples", "labels"), "scores", &ArowResults::scores)
        .arrays(shape(1), "labels_done", &ArowResults::labels_done);
    m.def("learn_confident_weights", &learn_confident_weights_arrays, arg("csr"), arg("problem"),
          arg("options"), arg("state"), arg("results"), arg("n_threads"));
}

}  // namespace

void register_online(nb::module_& m) {
    register_mistake_driven(m);
    register_dual_updates(m);
    register_arow(m);
}

}  // namespace widemargin
