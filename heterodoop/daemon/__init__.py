"""What every process of ours needs: its start, its lock, its end."""
