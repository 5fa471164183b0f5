"""Support vector machines: linear, with any kernel, and transductive."""
