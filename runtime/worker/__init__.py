"""What runs inside a worker process. Nothing here imports trio, or a sport by its name."""
