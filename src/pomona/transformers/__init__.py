"""Features as winners of contests made them: scikit-learn transformers that know queries."""
