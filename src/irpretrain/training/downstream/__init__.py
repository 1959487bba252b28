"""Tasks beside retrieval: extractive question answering and GLUE (PHP, section 4.5.2)."""
