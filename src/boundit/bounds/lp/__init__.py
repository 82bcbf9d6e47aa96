"""Linear programs whose ends are certified, over populations and response types."""
