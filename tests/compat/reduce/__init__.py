"""Generated transcripts, and the earlier server's reducer over them."""
