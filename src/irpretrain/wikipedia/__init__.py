"""Wikipedia dumps: pages, article structure, links."""
