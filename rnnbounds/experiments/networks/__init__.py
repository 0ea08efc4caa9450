"""The networks of the experiments: recurrent, feed-forward, of deep transitions."""
