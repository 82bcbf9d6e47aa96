"""The public names of ``boundit.service``."""

from boundit.service.commands import CloseWindows as CloseWindows
from boundit.service.commands import CreatePolicy as CreatePolicy
from boundit.service.commands import Decide as Decide
from boundit.service.commands import DecideRequest as DecideRequest
from boundit.service.commands import GiveRewards as GiveRewards
from boundit.service.commands import RefreshBounds as RefreshBounds
from boundit.service.commands import RefreshRequest as RefreshRequest
from boundit.service.commands import RewardRequest as RewardRequest
from boundit.service.commands import convert_request as convert_request
from boundit.service.commands import read_request as read_request
from boundit.service.config import PolicyConfig as PolicyConfig
from boundit.service.engine import Engine as Engine
from boundit.service.export import export_log as export_log
from boundit.service.keys import Key as Key
from boundit.service.keys import KeyRing as KeyRing
from boundit.service.keys import add_key as add_key
from boundit.service.keys import list_keys as list_keys
from boundit.service.keys import revoke_key as revoke_key
from boundit.service.store.postgres import PostgresStore as PostgresStore
from boundit.service.store.sqlite import SqliteStore as SqliteStore
from boundit.service.verify import ReplayReport as ReplayReport
from boundit.service.verify import describe_replay as describe_replay
from boundit.service.verify import replay_policy as replay_policy

__all__: list[str]
