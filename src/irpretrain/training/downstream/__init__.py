"""Tasks beside retrieval: extractive question answering (PHP, section 4.5.2)."""
