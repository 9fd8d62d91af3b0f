"""The version of this contract."""

CONTRACT_VERSION = "1"
"""Of what a sport implements and hands back; a sport says in its manifest which one it was built for."""
