"""What ``make house`` draws and records of the package: its rooms, its walks, its functions."""
