"""Speed and memory as ratios to peers, and coverage: `python -m benches run | smoke | compare | coverage | pages`."""
