"""The learners of `train` and `label`: their options, and which of them apply to which learner."""

from __future__ import annotations

from functools import partial
from typing import Any

from widemargin.cli.options.option import Option, train

WINNOWS_OF_COUNTS = "positive-winnow balanced-winnow balanced-winnow-plus"
ONLINE = f"arow perceptron {WINNOWS_OF_COUNTS} winnow large-margin-winnow dual-svm"
LEARNERS = (
    f"linear-svm label-weighted-svm average-of logistic-regression kernel-svm multiclass-svm least-squares "
    f"naive-bayes rocchio nearest-neighbors c45 boosted-trees chi-square-network profiles {ONLINE}"
)
_WITH_BALANCE = "linear-svm label-weighted-svm logistic-regression kernel-svm"
_WITH_COSTS = f"{_WITH_BALANCE} multiclass-svm large-margin-winnow dual-svm"
_WITH_WEIGHTS = f"{_WITH_COSTS} least-squares"
_kernel = partial(train, learners="kernel-svm multiclass-svm")
_chi_square = partial(train, learners="kernel-svm multiclass-svm chi-square-network")
_kernel_svm = partial(train, learners="kernel-svm")
_profiles = partial(train, learners="profiles")
_boosting = partial(train, learners="boosted-trees")
_c45 = partial(train, learners="c45")


def _naive_bayes(spelling: str, help: str, verbs: str, kind: Any = str, **more: Any) -> Option:
    return Option(spelling, help, verbs, kind, learners="naive-bayes", **more)


LEARNING = (
    train(
        "--learner NAME",
        "linear-svm: one weight per term, trained in seconds. label-weighted-svm: the same, but every label "
        "weights terms by how well they separate its documents; for label sets. average-of: the mean of two "
        "of these, on words and on all --blocks. logistic-regression: a linear-svm with the logistic loss; "
        "it has probabilities without --calibrate. kernel-svm: an SVM with any kernel. "
        "multiclass-svm: one SVM for all classes of documents with one label each, linear or with a kernel. "
        "least-squares: squared errors, with exact leave-one-out in closed form (on a sample of the terms "
        "with --features subspace:2000). naive-bayes: probabilities of the terms in each class, counted in "
        "one pass, with exact leave-one-out in closed form. rocchio: the cosine with the difference of two "
        "centroids, in one pass, with exact leave-one-out in closed form. nearest-neighbors: the votes of "
        "the most similar training documents, all of which the model keeps. c45: decision trees or rules "
        "that people can read (`inspect`). boosted-trees: AdaBoost, the votes of a hundred trees per "
        "label, or of tests of one term each. chi-square-network: distances between distributions of "
        "character trigrams, for authors of long texts. profiles: the nearest distribution of character "
        "n-grams, for languages of short strings (`identify`). Online learners, which learn from one "
        "document at a time: arow, which has a confidence for every weight and is the default of --stream; "
        "perceptron, positive-winnow, balanced-winnow, balanced-winnow-plus, winnow, "
        "large-margin-winnow, dual-svm.",
        tuple(LEARNERS.split()),
        "linear-svm",
        shown="linear-svm; --stream: arow",
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
    train(
        "--mix X",
        "How much the separation by a term changes its weight for a label: from 0, not at all, to 1.",
        float,
        shown="0.3",
        learners="label-weighted-svm",
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
        "--loss hinge|squared_hinge|prbep|f1",
        "The loss of training errors (kernel-svm: hinge only). prbep and f1 train every label for that "
        "measure of all documents.",
        shown="hinge; --penalty l1: squared_hinge",
        learners="linear-svm kernel-svm",
    ),
    train(
        "--penalty l2|l1",
        "l1 leaves most weights at zero, for small models; the loss is then the squared hinge.",
        shown="l2",
        learners="linear-svm",
    ),
    train(
        "--bias SIZE|unregularized|stabilized|none",
        "The threshold: a bias feature of this size; unregularized; stabilized (kernel-svm); or none, for "
        "hyperplanes through the origin.",
        shown="1; kernel-svm: unregularized",
        learners=f"{_WITH_WEIGHTS} arow perceptron winnow",
    ),
    train(
        "--class-weight balanced",
        "Give rare labels as much weight as frequent ones.",
        shown="none",
        common=True,
        learners=_WITH_WEIGHTS,
    ),
    train(
        "--balance X|auto",
        "Let positive examples of rare labels cost more: C (n-/n+)^X, by the numbers of documents without "
        "and with the label. 0: the same cost for all; 1: the same total cost for both; auto: 0.15 if "
        "documents may have several labels, 0 otherwise.",
        shown="auto; logistic-regression: 0",
        learners=_WITH_BALANCE,
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
C45 = (
    _c45("--rules", "Turn the trees into rules, and drop conditions and rules that do not pay.", bool),
    _c45(
        "--confidence X|none",
        "Of the upper limits of errors that decide what is pruned: smaller values prune more, none prunes "
        "nothing.",
        shown="0.25",
    ),
    _c45("--min-objects X", "The least number of documents on both sides of a split.", float, shown="2"),
    train(
        "--max-depth N",
        "The largest number of tests on a path of a tree.",
        int,
        shown="no limit; boosted-trees: 10",
        learners="c45 boosted-trees",
        least=1,
    ),
)
NAIVE_BAYES = (
    _naive_bayes(
        "--event-model multinomial|bernoulli|complement",
        "What a document is: how often each term occurs; which terms occur and which do not; or how often, "
        "with every class compared by the documents of all other classes.",
        "train",
        shown="multinomial",
    ),
    _naive_bayes(
        "--event-model multinomial|bernoulli",
        "What a document is: how often each term occurs; or which terms occur and which do not.",
        "label",
        shown="multinomial",
    ),
    _naive_bayes(
        "--smoothing X",
        "The count that is added to that of every term; less than 1 suits few or short documents of many "
        "different terms.",
        "train label",
        float,
        shown="1",
    ),
    _naive_bayes(
        "--prior documents|uniform",
        "How probable a label is before its terms are known: its share of the documents, or as all others.",
        "train label",
        shown="documents",
    ),
)
ROCCHIO = (
    train(
        "--negative-weight X|auto",
        "The weight of the centroid of documents without the label; auto chooses 0, 0.1, 0.25, 0.5 or 1 by "
        "leave-one-out.",
        shown="0.25",
        learners="rocchio",
    ),
)
BOOSTING = (
    _boosting("--rounds N", "The number of trees per label, or of stumps.", int, shown="100", least=1),
    _boosting(
        "--base trees|stumps",
        "What is boosted: trees of up to ten tests on a path, or stumps, which test one term. Stumps learn "
        "faster, and can be explained.",
        shown="trees",
    ),
    _boosting(
        "--committees per-label|shared",
        "Boost every label separately, or all labels together, with one term per round (AdaBoost.MH; --base "
        "stumps).",
        shown="per-label",
    ),
    _boosting(
        "--votes real|abstaining|discrete",
        "What a leaf votes: the log-odds of the label; the same, but nothing without the term (--base "
        "stumps); or for or against, with the same strength.",
        shown="real",
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
NEIGHBORS = (
    train(
        "--neighbors N",
        "The number of nearest documents or profiles that vote.",
        int,
        shown="30, or all of fewer documents; profiles: 1",
        learners="nearest-neighbors profiles",
        least=1,
    ),
    train(
        "--vote weighted|equal",
        "Whether a vote counts as much as the similarity of its document, or all count the same.",
        shown="weighted",
        learners="nearest-neighbors",
    ),
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
    _profiles("--unseen X", "The count of an n-gram that a profile does not have.", float, shown="0.1"),
)
ESTIMATES = (
    train(
        "--tune none|fast|full|10s",
        "Choose terms (words, bigrams, characters, titles), weights, stemming, stop words, loss and C on "
        "held-out training documents; explicit options are kept. fast takes about as long as ten trainings, "
        "10s about ten seconds; full compares on all documents until nothing gets better.",
        shown="fast for linear-svm and logistic-regression, none for others",
        common=True,
    ),
    train(
        "--tune-per-label",
        "Choose C for each label separately, on the representation that is best for all labels (linear-svm).",
        bool,
    ),
    train(
        "--estimate leave-one-out|one-step|k-fold|hold-out|bootstrap|bootstrap-632|xi-alpha|none",
        "How to estimate precision, recall and F1 without a test set: leave out one document at a time, "
        "exactly or approximately by one step, or one tenth of them; hold out one fifth once; learn from "
        "samples with repetitions; or compute bounds at no cost.",
        shown="leave-one-out; where that takes long, one-step or k-fold; xi-alpha for very many documents",
        common=True,
    ),
    train(
        "--thresholds GOAL",
        "Goal for per-label thresholds: f1, f1-per-label, precision:0.9, recall:0.9, "
        "cost:FALSE_POSITIVE,FALSE_NEGATIVE, proportional, or none (decide at 0). For exclusive classes: f1, "
        "f1-per-label or proportional.",
        shown="f1 where a document may have any number of labels",
        common=True,
    ),
    train(
        "--calibrate platt|isotonic|length|none",
        "Turn scores into probabilities, for `predict --proba` and `identify`. length: for short texts of "
        "exclusive labels, fitted to held-out pieces of 20 to 200 bytes.",
        shown="none; platt with --costs; profiles: length; logistic-regression has its own probabilities",
        common=True,
    ),
)
# Labels that are paths in a tree.
HIERARCHY = (
    train(
        "--label-path SEP",
        "Labels are paths in a tree, such as science/physics, and SEP separates their parts. Every node is "
        "learned; documents get the most specific labels.",
        shown="none",
    ),
    train(
        "--hierarchy auto|bottom-up|top-down|max-sum",
        "With --label-path: how to decide nodes together. bottom-up: a node brings its ancestors; top-down: "
        "a node needs its parent; max-sum: the set with the largest sum of scores. One path per document: "
        "the best leaf, the best child of each node, or the best sum of scores on a path.",
        default="auto",
    ),
)
