"""The store: one method per Lua command, typed in and out. It decides nothing; the scripts do."""

from fairlane.store.client_commands import ClientCommands
from fairlane.store.dispatcher_commands import DispatcherCommands
from fairlane.store.observer_commands import ObserverCommands
from fairlane.store.operator_commands import OperatorCommands
from fairlane.store.worker_commands import WorkerCommands


class Store(OperatorCommands, ClientCommands, DispatcherCommands, WorkerCommands, ObserverCommands):
    """One scheduler's state on one server. Connects on first use; safe for concurrent calls on one event loop.

    Every method raises StoreUnavailable when the server cannot be reached in time (saying whether the command may
    have run) and StoreUnsuitable when the server refuses this client. Each may be repeated.
    """
