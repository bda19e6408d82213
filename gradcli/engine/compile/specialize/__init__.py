"""From the ops program to a typed program."""
