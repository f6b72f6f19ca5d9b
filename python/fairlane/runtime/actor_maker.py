"""Makes the actors of one scheduler."""

from dataclasses import dataclass
from typing import Any, Final

import ray

from fairlane.errors import ConfigError, RuntimeStartError
from fairlane.runtime.roles import StoreAddress

FOR_EVER: Final = -1
"""How often Ray restarts what holds nothing."""


@dataclass(frozen=True, slots=True)
class ActorMaker:
    """Makes actors in a namespace of their own, for the scheduler of this name."""

    scheduler: str
    namespace: str
    address: StoreAddress

    def make(self, kind: type, name: str, *arguments: object, restarts: int) -> Any:  # noqa: ANN401 - Ray's handle
        """Have Ray make an actor, which it restarts so often; return its handle at once.

        Raises:
            ConfigError: the provider among the arguments cannot be sent to it.
            RuntimeStartError: the namespace has an actor of this name.
        """
        try:
            return (
                ray.remote(kind)
                .options(
                    name=name,
                    namespace=self.namespace,
                    num_cpus=0,
                    max_restarts=restarts,
                    max_task_retries=0,
                )
                .remote(name, self.address, *arguments)
            )
        except TypeError as error:
            raise ConfigError(
                f"{name}: the provider cannot be pickled ({error}); give it as package.module:attribute",
                field="provider",
            ) from error
        except ValueError as error:
            if "already taken" not in str(error):
                raise
            raise RuntimeStartError(
                f"scheduler {self.scheduler} already runs on this Ray: namespace {self.namespace} is taken",
                namespace=self.namespace,
            ) from None
