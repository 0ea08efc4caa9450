"""Run records, their judgement and comparison, and the pages made from them."""
