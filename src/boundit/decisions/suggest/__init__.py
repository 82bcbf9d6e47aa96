"""What would narrow bounds, and how wide they will be: before more is measured, or anything."""
