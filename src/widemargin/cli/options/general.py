"""Options of single verbs, of most verbs, and of reading documents."""

from __future__ import annotations

from pathlib import Path

from widemargin.cli.options.option import REQUIRED, Option, train

_READERS = "train label compare predict evaluate identify diagnose report split"
_EVERY_VERB = f"{_READERS} demo inspect explain corpus-list corpus-fetch corpus-export papers-list papers-run"
_SEEDED = "train label compare demo diagnose report split"
_ROWS_OUT = "A .jsonl, .csv or .tsv file to write; - is stdout (JSONL)."
_PLOT = "Also draw a plot: a .png, .svg or .pdf file (needs matplotlib)."
_DATA = (
    "JSONL, a JSON list, CSV, TSV, Excel, Parquet, SVM-light or fastText (also .gz, .xz, .zst), a folder or "
    "archive (.zip, .tar) of such files or with a subfolder per class, a pattern in quotes such as "
    "'data/*.csv', a URL such as 's3://bucket/*.parquet' (needs widemargin[remote]), or - for stdin."
)

GENERAL = (
    Option(
        "MODEL",
        "A model file that `train` or `label` wrote, or one of SVM-light.",
        "predict evaluate identify inspect explain",
        Path,
        REQUIRED,
    ),
    Option("[DATA]...", f"One or more of: {_DATA}", "train predict evaluate", list[str]),
    Option(
        "[DATA]...",
        "Plain text, or documents as for `predict` (.jsonl, .csv and so on, or with --format). - is stdin.",
        "identify",
        list[str],
    ),
    Option(
        "[LABELED]",
        "Labeled documents. Documents without labels in this file are labeled too. - is stdin.",
        "label",
    ),
    Option("[TRAIN]", f"Labeled documents to learn from. {_DATA}", "compare"),
    Option(
        "[TEST]",
        "Labeled documents to measure on. Without them, the training documents are cross-validated.",
        "compare",
    ),
    Option("[DATA]", _DATA, "diagnose"),
    Option(
        "[TEST]",
        "Test documents, labeled or not: copies of training documents and drift are looked for.",
        "diagnose",
    ),
    Option("[UNLABELED]", "Documents to label; existing labels are ignored.", "label"),
    Option("[TEXT]", "The text to explain; - reads it from stdin.", "explain"),
    Option("NAME", "A name that `corpus list` shows.", "corpus-fetch corpus-export", str, REQUIRED),
    Option("NAME", "A name that `papers list` shows.", "papers-run", str, REQUIRED),
    train("--output -o MODEL", "The model file to write.", Path, REQUIRED, common=True),
    Option("--output -o OUT", _ROWS_OUT, "predict identify", default="-", common=True),
    Option("--output -o OUT", _ROWS_OUT, "label", common=True),
    Option("--output -o DIR", "The folder for the files of the demo.", "demo", Path, "widemargin-demo"),
    Option("--output -o DIR", "The folder to write to.", "corpus-export", Path, REQUIRED),
    Option(
        "--model MODEL", "Also keep the rule, as a model file for new documents.", "label", Path, shown="none"
    ),
    train(
        "--no-hashes",
        "Keep no hashes of the training texts in the model. `evaluate` uses them to tell how many of its "
        "documents the model was trained on; they also let others test whether a known text was among "
        "them. A stream keeps none.",
        bool,
    ),
    Option("--force", "Replace an existing file that is not a model.", "train label inspect", bool),
    Option("--scores", "Add the score of every label.", "predict label", bool, common=True),
    Option(
        "--prbep",
        "Add the precision/recall break-even point to the table (compare: of label sets).",
        "evaluate compare",
        bool,
    ),
    Option(
        "--proba",
        "Add the probability of every label. The model must be trained with --calibrate, or be a logistic "
        "regression.",
        "predict",
        bool,
    ),
    Option(
        "--costs FILE",
        "Costs between classes: a CSV, TSV or JSON file with a matrix (truth in lines, decision in columns), "
        "or with truth,decision,cost. The model decides by the least expected cost.",
        "train",
        Path,
        shown="none: all errors are equal",
        common=True,
    ),
    Option(
        "--costs FILE",
        "Decide by the least expected cost: a file as for `train --costs`. The model must be trained with "
        "--costs or --calibrate.",
        "predict",
        Path,
        shown="those of the model",
    ),
    Option(
        "--costs FILE",
        "Also print the cost per document, by a file as for `train --costs`. Decisions do not change.",
        "evaluate",
        Path,
        shown="those of the model",
    ),
    Option(
        "--thresholds LABEL=X",
        "Assign LABEL to documents that score above X (may be repeated; X may be never or always). "
        "Or a JSON file with several, such as a report offers. The thresholds of other labels stay.",
        "predict evaluate",
        list[str],
        shown="those of the model",
    ),
    Option("--top K", "Add the K best labels with their scores.", "predict", int, shown="off", least=1),
    Option("--per-line", "Every line of plain text is a document (the default).", "identify", bool),
    Option("--per-document", "The whole plain text is one document.", "identify", bool),
    Option(
        "--segments",
        "Cut documents of several languages into segments, and print a row for each: its first character, "
        "the one after its last, and its label. Plain text is one document unless --per-line is given.",
        "identify",
        bool,
    ),
    Option(
        "--switch-cost X",
        "With --segments: how much likelier a text must become, as a logarithm, to begin another segment.",
        "identify",
        float,
        shown="6",
        least=0.0,
    ),
    Option("--keep-text", "Add the text of the document.", "predict label identify", bool),
    Option(
        "--safe-csv",
        "In .csv and .tsv output, put ' before cells that a spreadsheet would run as formulas: those that "
        "begin with =, +, -, @, a tab or a line end. Numbers stay as they are.",
        "predict label identify",
        bool,
    ),
    Option(
        "--positives [LABEL=]FRACTION",
        "The fraction of unlabeled documents that have LABEL. Give it once per label; for two labels, one "
        "is enough.",
        "label",
        list[str],
        shown="estimated; label sets: as in the labeled documents",
        common=True,
        learners="transductive-svm",
    ),
    Option(
        "--on-alarm warn|inductive|error|ignore",
        "What to do when the labels look wrong: warn, learn from the labeled documents only, stop, or go on.",
        "label",
        default="warn",
        common=True,
        learners="transductive-svm",
    ),
    Option(
        "--query TEXT",
        "Rank the documents by these words. Mark some in the labels of the output, relevant or not relevant, "
        "and pass it back: the others are ranked by the query and the marks, fewer of which weigh less.",
        "label",
        shown="off",
        common=True,
    ),
    Option(
        "--relevant LABEL",
        "With --query: the label of relevant documents; documents with any other label, or none, are not.",
        "label",
        shown="relevant, beside not relevant",
    ),
    Option(
        "--next N",
        "List the N documents whose labels would help most; with --query, the N best.",
        "label",
        int,
        0,
        "none; with --query: 10",
        common=True,
        least=0,
    ),
    Option("--file F", "Read the text from a file.", "explain", Path),
    Option("--label X", "The label to explain.", "explain", shown="the predicted one"),
    Option("--label X", "Show the terms of this label only (may be repeated).", "inspect", list[str]),
    Option("--terms N", "Number of terms to list.", "explain", int, 15, least=0),
    Option("--terms N", "Number of terms per label, for and against.", "inspect", int, 8, least=0),
    Option(
        "--suspects N",
        "List only the N labels of training documents that leave-one-out or cross-validation contradicts "
        "most.",
        "inspect",
        int,
        shown="off",
        least=1,
    ),
    Option(
        "--test-size N",
        "Print also between which figures a test set of N documents would show this model.",
        "train inspect",
        int,
        shown="off",
        least=1,
    ),
    Option(
        "--features",
        "List only the selected or sampled terms with their scores, or what features are made of.",
        "inspect",
        bool,
    ),
    Option(
        "--export-svmlight FILE",
        "Write a model of vectors for svm_classify of SVM-light. If there are several labels, choose one "
        "with --label.",
        "inspect",
        Path,
        shown="none",
    ),
    Option(
        "--archive FILE",
        "The official archive of the collection, or a folder with its files, if you have it already.",
        "corpus-fetch",
        Path,
        shown="downloaded from its home",
    ),
    Option("--split S", "A split, or all.", "corpus-export", shown="the usual one"),
    Option(
        "--learners NAMES",
        "The learners to compare, separated by commas, such as linear-svm,naive-bayes. They run however long "
        "they take.",
        "compare",
        shown="all that apply, except those predicted to take more than three minutes of one core",
        common=True,
    ),
    Option(
        "--folds N",
        "Number of parts of the training documents, each of which is held out once.",
        "compare",
        int,
        shown="5; 3 with TEST, where folds only choose settings",
        common=True,
        least=2,
    ),
    Option(
        "--budget SECONDS",
        "Stop after this time. Fast learners come first; a learner that is predicted to take longer than "
        "what is left is not trained.",
        "compare",
        float,
        shown="none",
        common=True,
        least=0.0,
    ),
    Option(
        "--target F1", "The F1 that every label is to reach.", "diagnose", float, 0.9, common=True, least=0.0
    ),
    Option("--top N", "List the N hardest labels.", "diagnose", int, 20, common=True, least=0),
    Option(
        "--describe LABEL",
        "Describe this label in full (may be repeated).",
        "diagnose",
        list[str],
        shown="the three hardest",
        common=True,
    ),
    Option("--plot FILE", _PLOT, "papers-run diagnose", Path, shown="none"),
    Option(
        "--plot FILE",
        "Also draw quality against training time: a .png, .svg or .pdf file (needs matplotlib).",
        "compare",
        Path,
        shown="none",
        common=True,
    ),
    Option(
        "--threads N",
        "Number of threads.",
        f"{_READERS} demo serve",
        int,
        shown="all cores",
        common=True,
        least=1,
    ),
    Option(
        "--seed N",
        "Random seed.",
        "train label compare demo diagnose report split",
        int,
        0,
        common=True,
        least=0,
    ),
    Option("--json", "Print JSON instead of text.", _EVERY_VERB, bool, common=True),
    Option(
        "--quiet -q",
        "No notes and no progress bars; `train` prints one line.",
        _EVERY_VERB,
        bool,
        common=True,
    ),
    Option("--quiet -q", "No line in the log for every request.", "serve", bool, common=True),
    Option("--debug", "Show a traceback on errors.", f"{_EVERY_VERB} serve", bool),
    train(
        "--help-all", "Show all options. For those of one learner: --learner NAME --help.", bool, common=True
    ),
    Option("--help-all", "Show all options.", "label compare split", bool, common=True),
)
SIMULATION = (
    Option(
        "--simulate N",
        "Write no labels. Show the labels of up to N documents of LABELED, hide the others, and print how "
        "well they are found, with and without learning from unlabeled documents.",
        "label",
        int,
        shown="off",
        common=True,
        least=2,
    ),
    Option(
        "--repeat R", "How many times to repeat it, each time with other documents.", "label", int, 5, least=1
    ),
    Option("--plot FILE", _PLOT, "label", Path, shown="none"),
)
