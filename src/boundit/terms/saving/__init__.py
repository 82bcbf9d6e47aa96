"""Values as text that a file keeps: records of JSON, checksums, files written whole."""
