"""What rankers that are made of fitted rankers are made of."""
