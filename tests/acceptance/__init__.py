"""The whole server, as its users meet it: real processes, a real database, real sockets."""
