"""What a limit on hidden confounding tells of rewards: the marginal sensitivity model."""
