"""Random programs in both languages, and what gradcli and PyTorch make of each of them."""
