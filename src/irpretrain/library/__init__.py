"""What `import irpretrain` offers: the workflow's functions on texts and documents, without its tables and shards."""
