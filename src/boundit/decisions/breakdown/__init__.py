"""From which limit on what is hidden a claim no longer holds, or a choice changes."""
