"""A policy as it is now, for whoever asks."""

from boundit.service.commands import PolicyAnswer
from boundit.service.fold import Fold
from boundit.service.moments import to_datetime
from boundit.service.store.store import Head


def show_policy(fold: Fold, head: Head) -> PolicyAnswer:
    """Show a policy as it is now."""
    config, policy, names = fold.config, fold.policy, fold.names
    refuted = policy.refutation
    return PolicyAnswer(
        head.name,
        config.kind,
        [names.write_arm(arm) for arm in policy.spec.arms],
        None if names.context is None else list(names.context),
        None if names.treatments is None else list(names.treatments),
        names.outcome,
        policy.spec.reward_range,
        list(policy.auxiliary_variables),
        config.explore,
        "at_once" if config.learns_at_once else "window",
        config.window,
        config.default_reward,
        config.rewards,
        config.shadow,
        config.retention,
        to_datetime(head.created_at),
        head.head,
        head.state_position,
        head.bounds_version,
        head.n_open,
        head.n_learned,
        fold.seed,
        config.options,
        None if refuted is None else str(refuted),
        to_datetime(head.pruned_before) if head.pruned_before else None,
        to_datetime(head.last_at),
        config.warnings,
    )
