"""What runs inside a worker process. Nothing here imports trio, and nothing is imported by name of a sport."""
