"""Meeting a driver: its place, who may connect, the frames of both sides, starting and ending it."""
