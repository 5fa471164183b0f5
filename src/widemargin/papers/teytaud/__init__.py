"""Tables of Teytaud and Jalam, Kernel-based text categorization."""
