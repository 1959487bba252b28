"""One loop for pre-training and fine-tuning."""
