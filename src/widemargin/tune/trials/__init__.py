"""What learners are compared on, and their trainings."""
