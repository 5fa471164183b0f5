"""A seeded mutation fuzzer for what reads other people's bytes: readers, the model loader, the core's gate.

`python -m tests.fuzz --seconds 60 --seed 7` mutates small valid inputs. A reader may return or raise one of
the errors in :mod:`widemargin.errors`; anything else, a crash and a hang included, is a find. The seed, the
target and the number of a case determine it: `--seed 7 --target jsonl --case 1234` runs it again. What was
found is kept in `cases/TARGET-NAME.bin`, which `test_fuzz.py` replays.
"""
