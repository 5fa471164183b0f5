"""The default search of tuning: one axis of choices after another."""
