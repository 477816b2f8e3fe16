"""Devices that a running driver of this user lends to `heterodoop run`: where it is met, on what terms, what the two say."""
