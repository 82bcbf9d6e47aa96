"""The policies that score arms one by one, a file each."""
