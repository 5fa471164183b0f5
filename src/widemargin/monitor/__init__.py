"""New documents against those of training: left-out profiles, and a drift alarm that holds at any time."""
