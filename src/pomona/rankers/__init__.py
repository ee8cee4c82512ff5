"""Rankers: learning-to-rank methods as scikit-learn estimators, and the file that keeps what they learnt."""
