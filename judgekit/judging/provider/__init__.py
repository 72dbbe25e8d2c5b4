"""One judge over the wire: requests, replies, prices, and the one door to litellm and instructor."""
