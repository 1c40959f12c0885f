"""For whom does the model work badly? Compute the AUC of each user and of groups of users, with intervals.

python users.py
"""

from __future__ import annotations

import numpy as np

from fastevals import grouped_auc

rng = np.random.default_rng(0)
n_users, n = 1_000, 100_000
user = rng.integers(0, n_users, n)
country = np.array(["de", "fr", "it"])[user % 3]  # the country of the user
skill = 1.2 - 0.8 * (country == "it")  # how well the model knows the country
y = rng.random(n) < 0.3
score = rng.normal(size=n) + skill * y

users = grouped_auc(y, score, user, interval="delong")
low, high = users.mean_confidence_interval
print(
    f"mean over users {users.mean:.4f} [{low:.4f}, {high:.4f}], undefined {users.n_undefined}"
)

upper = users.confidence_intervals[:, 1]  # of each user by itself, not simultaneous
below = np.flatnonzero(upper < 0.7)
print(
    f"{below.size} of {n_users} users have an interval below 0.7, {np.mean(below % 3 == 2):.0%} of them Italian"
)

countries = grouped_auc(y, score, country, interval="delong")
for name, value, a, b in zip(
    countries.groups, countries.values, *countries.confidence_intervals.T, strict=True
):
    print(f"{name}: {value:.4f} [{a:.4f}, {b:.4f}]")
