"""The learners of `train`: their options, which of them apply to which learner, and what they mean."""

from __future__ import annotations

from functools import partial
from typing import Any

from widemargin.cli.options.option import Option, train
from widemargin.errors import UsageError
from widemargin.tune.learners import fixed_parameters

WINNOWS_OF_COUNTS = "positive-winnow balanced-winnow balanced-winnow-plus"
ONLINE = f"perceptron {WINNOWS_OF_COUNTS} winnow large-margin-winnow dual-svm"
LEARNERS = (
    f"linear-svm kernel-svm multiclass-svm least-squares naive-bayes chi-square-network profiles {ONLINE}"
)
_WITH_COSTS = "linear-svm kernel-svm multiclass-svm large-margin-winnow dual-svm"
_WITH_WEIGHTS = f"{_WITH_COSTS} least-squares"
_kernel = partial(train, learners="kernel-svm multiclass-svm")
_chi_square = partial(train, learners="kernel-svm multiclass-svm chi-square-network")
_kernel_svm = partial(train, learners="kernel-svm")
_profiles = partial(train, learners="profiles")
_naive_bayes = partial(train, learners="naive-bayes")

LEARNING = (
    train(
        "--learner NAME",
        "linear-svm: one weight per term, trained in seconds. kernel-svm: an SVM with any kernel. "
        "multiclass-svm: one SVM for all classes of documents with one label each, linear or with a kernel. "
        "least-squares: squared errors, with exact leave-one-out in closed form (on a sample of the terms "
        "with --features subspace:2000). naive-bayes: probabilities of the terms in each class, counted in "
        "one pass, with exact leave-one-out in closed form. chi-square-network: distances between "
        "distributions of character trigrams, for authors of long texts. profiles: the nearest "
        "distribution of character n-grams, for languages of short strings (`identify`). Online learners, "
        "which learn from one document at a time: perceptron, positive-winnow, balanced-winnow, "
        "balanced-winnow-plus, winnow, large-margin-winnow, dual-svm.",
        tuple(LEARNERS.split()),
        "linear-svm",
        common=True,
    ),
    train(
        "--C X",
        "The cost of training errors; inf allows none.",
        float,
        shown="chosen by --tune, or 1",
        common=True,
        learners=_WITH_COSTS,
    ),
    Option("--C X", "The cost of errors on labeled documents.", "label", float, 20.0, common=True),
    Option(
        "--C-unlabeled X",
        "The cost of an unlabeled document inside the margin, at most --C.",
        "label",
        float,
        shown="all unlabeled documents together weigh half as much as the labeled ones",
    ),
    train(
        "--regularization X",
        "The penalty on squared weights, lambda.",
        float,
        shown="1; chi-square-network: 0",
        learners="least-squares chi-square-network",
        least=0.0,
    ),
    train(
        "--loss hinge|squared_hinge",
        "The loss of training errors (kernel-svm: hinge only).",
        shown="hinge",
        learners="linear-svm kernel-svm",
    ),
    train(
        "--bias SIZE|unregularized|stabilized|none",
        "The threshold: a bias feature of this size; unregularized; stabilized (kernel-svm); or none, for "
        "hyperplanes through the origin.",
        shown="1; kernel-svm: unregularized",
        learners=f"{_WITH_WEIGHTS} perceptron winnow",
    ),
    train(
        "--class-weight balanced",
        "Give rare labels as much weight as frequent ones.",
        shown="none",
        common=True,
        learners=_WITH_WEIGHTS,
    ),
    train(
        "--tol X",
        "When to stop: the relative duality gap; kernel-svm: the violation of optimality; least-squares: "
        "the relative residual.",
        float,
        shown="0.001; least-squares: 0.000001; large-margin-winnow, dual-svm: all passes",
        learners=_WITH_WEIGHTS,
    ),
)
NAIVE_BAYES = (
    _naive_bayes(
        "--event-model multinomial|bernoulli|complement",
        "What a document is: how often each term occurs; which terms occur and which do not; or how often, "
        "with every class compared by the documents of all other classes.",
        shown="multinomial",
    ),
    _naive_bayes("--smoothing X", "The count that is added to that of every term.", float, shown="1"),
    _naive_bayes(
        "--prior documents|uniform",
        "How probable a label is before its terms are known: its share of the documents, or as all others.",
        shown="documents",
    ),
)
KERNELS = (
    _kernel(
        "--kernel linear|poly|rbf|sigmoid|chi2",
        "x.z, (gamma x.z + coef0)^degree, exp(-gamma |x-z|^2), tanh(gamma x.z + coef0), or exp(-gamma "
        "chi2(x,z)^power).",
        shown="rbf; multiclass-svm: linear",
    ),
    _chi_square("--gamma X", "Gamma of the kernel.", float, shown="0.1"),
    _kernel("--degree N", "The degree of poly.", int, shown="3", least=1),
    _kernel("--coef0 X", "The constant in poly and sigmoid.", float, shown="1"),
    _chi_square("--power X", "The power of chi2; chi-square-network: at most 1.", float, shown="1"),
    _kernel_svm(
        "--stabilizer-size X",
        "The length of the two artificial examples of the stabilized hyperplane.",
        float,
        shown="1",
    ),
    _kernel_svm(
        "--scheme one-vs-rest|votes|dag",
        "How several classes are separated: each from the rest, or each from each other, decided by the "
        "votes of all pairs or by one pair after another.",
        shown="one-vs-rest",
    ),
    train(
        "--formulation crammer-singer|weston-watkins",
        "The slack of a document: the largest error of a wrong class, or the sum of all such errors.",
        shown="crammer-singer",
        learners="multiclass-svm",
    ),
    _kernel("--cache MB", "Megabytes for rows of the kernel matrix.", float, shown="200", least=1),
)
PROFILES = (
    _profiles(
        "--dissimilarity kl|kl-all|ct|cosine|chi2|chi2-asymmetric",
        "How a text and a profile are compared.",
        shown="kl",
    ),
    _profiles(
        "--direction profile-to-text|text-to-profile",
        "The order of the two in a dissimilarity that is not symmetric.",
        shown="profile-to-text",
    ),
    _profiles(
        "--gather class|N",
        "Add up all documents of a label to one profile, or N at a time; 1 compares with every document.",
        shown="class",
    ),
    _profiles("--neighbors N", "The number of nearest profiles that vote.", int, shown="1", least=1),
    _profiles("--unseen X", "The count of an n-gram that a profile does not have.", float, shown="0.1"),
)
ONLINE_LEARNING = (
    train(
        "--eta X",
        "The learning rate.",
        float,
        shown="0.01; large-margin-winnow, dual-svm: Newton's step",
        learners="perceptron winnow large-margin-winnow dual-svm",
    ),
    train(
        "--promotion X",
        "The factor for weights after a false negative.",
        float,
        shown="1.1",
        learners=WINNOWS_OF_COUNTS,
    ),
    train(
        "--demotion X",
        "The factor for weights after a false positive.",
        float,
        shown="0.9",
        learners=WINNOWS_OF_COUNTS,
    ),
    train(
        "--average averaged|voted",
        "Average the weights over all documents, or let the weights after each document vote.",
        shown="the last weights",
        learners=f"perceptron {WINNOWS_OF_COUNTS} winnow",
    ),
    train(
        "--normalize", "Keep the sum of the weights constant.", bool, learners="winnow large-margin-winnow"
    ),
    train(
        "--passes N",
        "The largest number of passes over the documents; a stream is read once.",
        int,
        shown="50; large-margin-winnow, dual-svm: 200",
        learners=ONLINE,
        least=1,
    ),
)
STREAMS = (
    train(
        "--stream",
        "Learn from JSON Lines as they arrive, also from an endless pipe: predict each document, learn from "
        "it, forget it. Terms are hashed, new labels may appear, and malformed lines are skipped (--errors "
        "strict stops there).",
        bool,
        common=True,
        learners=ONLINE,
    ),
    train(
        "--save-every N",
        "With --stream: save after every N documents. Ctrl-C also saves the model.",
        int,
        shown="once a minute",
        learners=ONLINE,
        least=1,
    ),
    train(
        "--resume",
        "With --stream: continue with the model in MODEL, if there is one, and with its settings.",
        bool,
        learners=ONLINE,
    ),
    train(
        "--max-labels N",
        "With --stream: stop when there are more than N distinct labels. Each takes memory.",
        int,
        1000,
        learners=ONLINE,
        least=2,
    ),
)
ESTIMATES = (
    train(
        "--tune none|fast|full|10s",
        "Choose stemming, stop words, weighting and C from the training documents; explicit options are "
        "kept. full estimates every candidate; fast only those that do best in a quick comparison; 10s does "
        "as much of that as is predicted to take ten seconds.",
        shown="fast for linear-svm, none for others",
        common=True,
    ),
    train(
        "--estimate leave-one-out|one-step|k-fold|xi-alpha|none",
        "How to estimate precision, recall and F1 without a test set: leave out one document at a time, "
        "exactly or approximately by one step, or one tenth of them, or compute bounds at no cost.",
        shown="leave-one-out; where that takes long, one-step or k-fold; xi-alpha for very many documents",
        common=True,
    ),
    train(
        "--thresholds GOAL",
        "Goal for per-label thresholds: f1, f1-per-label, precision:0.9, recall:0.9, "
        "cost:FALSE_POSITIVE,FALSE_NEGATIVE, proportional, or none (decide at 0).",
        shown="f1 where a document may have any number of labels",
        common=True,
    ),
    train(
        "--calibrate platt|isotonic|length|none",
        "Turn scores into probabilities, for `predict --proba` and `identify`. length: for short texts of "
        "exclusive labels, fitted to held-out pieces of 20 to 200 bytes.",
        shown="none; profiles: length",
        common=True,
    ),
)

# Which kernels take which options.
_OF_KERNELS = {
    "gamma": ("poly", "rbf", "sigmoid", "chi2"),
    "degree": ("poly",),
    "coef0": ("poly", "sigmoid"),
    "power": ("chi2",),
}
# Options with another name than their parameter.
_PARAMETERS = {"passes": "max_iter", "neighbors": "n_neighbors"}


def is_online(learner: str) -> bool:
    """Whether it can learn from one document after the other."""
    return learner in ONLINE.split()


def parameters(given: Any) -> dict[str, Any]:
    """The parameters of the learner that were given, checked before the work begins."""
    learner = given.learner
    found: dict[str, Any] = {}
    for option in (*LEARNING, *NAIVE_BAYES, *KERNELS, *PROFILES, *ONLINE_LEARNING, *STREAMS):
        value = getattr(given, option.name, option.default)
        if not option.learners or value is None or value is False or value == option.default:
            continue
        if learner not in option.learners.split():
            raise UsageError(f"{option.flags[0]} does not apply to {learner}. {_instead(option, learner)}")
        if option not in STREAMS:
            found[option.name] = value
    found = {_PARAMETERS.get(name, name): value for name, value in found.items()}
    if "bias" in found:
        found["bias"] = _bias(found["bias"], learner)
    if "gather" in found:
        found["gather"] = _gather(found["gather"])
    if learner in ("kernel-svm", "multiclass-svm"):
        _check_kernel(found, "rbf" if learner == "kernel-svm" else "linear")
    return {**fixed_parameters(learner), **found}


def _instead(option: Option, learner: str) -> str:
    if option.name == "C" and learner == "least-squares":
        return "Use --regularization."
    if option.learners == ONLINE:
        return "It is for online learners, such as --learner balanced-winnow."
    *some, last = option.learners.split()
    return f"It is for --learner {', '.join(some) + ' or ' if some else ''}{last}."


def _check_kernel(found: dict[str, Any], usual: str) -> None:
    if found.pop("loss", "hinge") != "hinge":
        raise UsageError("--loss squared_hinge does not apply to kernel-svm, which has the hinge loss.")
    kernel = found.get("kernel", usual)
    for option, kernels in _OF_KERNELS.items():
        if option in found and kernel not in kernels:
            raise UsageError(f"--{option} does not apply to the kernel {kernel}.")
    if "stabilizer_size" in found and found.get("bias") != "stabilized":
        raise UsageError("--stabilizer-size is for the stabilized hyperplane. Add --bias stabilized.")


def make_learner(learner: str, parameters: dict[str, Any]) -> Any:
    """The learner itself; importing it takes a moment."""
    from widemargin.classifier.model_parts import learner_class

    made = learner_class(learner)()
    known = made.get_params()
    # Not every learner draws numbers or shows a bar.
    idle = [name for name in ("random_state", "verbose") if name not in known]
    return made.set_params(**{name: value for name, value in parameters.items() if name not in idle})


def _gather(text: str) -> int | str:
    if text == "class":
        return text
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise UsageError(f"--gather {text}: expected class, or a number of documents such as 5.")
    return int(text)


def _bias(text: str, learner: str) -> float | str | None:
    word = text.lower()
    if word == "none":
        return None
    if word in ("unregularized", "stabilized"):
        only_sizes = is_online(learner) or learner == "multiclass-svm"
        if only_sizes or (word == "stabilized" and learner == "least-squares"):
            other = "" if only_sizes else ", unregularized"
            raise UsageError(f"--bias {word}: {learner} takes a size, such as 1{other}, or none.")
        return word
    try:
        return float(text)
    except ValueError:
        raise UsageError(
            f"--bias {text}: expected a size, such as 1, or unregularized, stabilized or none."
        ) from None
