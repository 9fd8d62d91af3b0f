"""The Dockerfile's steps, tried where there is no container engine."""
