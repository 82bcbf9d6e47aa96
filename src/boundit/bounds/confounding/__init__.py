"""What a limit on hidden confounding implies: the marginal sensitivity model."""
