"""Speed and memory, as ratios against peers: `python -m benches run | smoke | compare | coverage | readme`."""
