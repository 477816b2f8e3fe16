"""Deciding which task runs where and when: pure functions and a state machine, no clock, no process, no GPU."""
