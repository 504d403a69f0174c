"""An operator as kopf's users write them: it follows songs, and says in their status what it has done."""

import kopf

GROUP = "python.example.dev"


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_):
    # There are no events of Kubernetes to post to.
    settings.posting.enabled = False


@kopf.on.create(GROUP, "v1", "songs")
def created(spec, patch, **_):
    patch.status["message"] = f"made {spec['title']}"


@kopf.on.update(GROUP, "v1", "songs", field="spec.title")
def renamed(old, new, patch, **_):
    patch.status["message"] = f"renamed {old} to {new}"


@kopf.on.delete(GROUP, "v1", "songs")
def deleted(name, **_):
    print(f"deleted {name}", flush=True)
