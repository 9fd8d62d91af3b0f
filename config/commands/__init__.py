"""The commands of `scorebox`, one module each."""
