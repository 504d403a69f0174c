"""What the official Python client does, step by step, against the server whose URL is the argument. Exits 0 if all is right."""

import sys
import threading
import time

from kubernetes import client, dynamic, watch
from kubernetes.client.exceptions import ApiException

GROUP, VERSION, PLURAL, NAMESPACE = "python.example.dev", "v1", "things", "python"
WHERE = dict(group=GROUP, version=VERSION, namespace=NAMESPACE, plural=PLURAL)


def thing(name, title, **metadata):
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Thing",
        "metadata": {"name": name, **metadata},
        "spec": {"title": title},
    }


def expect(got, wanted, what):
    if got != wanted:
        raise AssertionError(f"{what}: expected {wanted!r}, got {got!r}")


def refused(code, call, *args, **more):
    try:
        call(*args, **more)
    except ApiException as error:
        expect(error.status, code, call.__name__)
        return error
    raise AssertionError(f"{call.__name__} was not refused")


def define(definitions):
    """Makes the kind, and watches its definition until it is established."""
    text = client.V1JSONSchemaProps(type="string")
    schema = client.V1JSONSchemaProps(
        type="object",
        properties={
            "spec": client.V1JSONSchemaProps(type="object", properties={"title": text}),
            "status": client.V1JSONSchemaProps(type="object", properties={"phase": text}),
        },
    )
    name = f"{PLURAL}.{GROUP}"
    definitions.create_custom_resource_definition(
        client.V1CustomResourceDefinition(
            metadata=client.V1ObjectMeta(name=name),
            spec=client.V1CustomResourceDefinitionSpec(
                group=GROUP,
                scope="Namespaced",
                names=client.V1CustomResourceDefinitionNames(plural=PLURAL, singular="thing", kind="Thing"),
                versions=[
                    client.V1CustomResourceDefinitionVersion(
                        name=VERSION,
                        served=True,
                        storage=True,
                        schema=client.V1CustomResourceValidation(open_apiv3_schema=schema),
                        subresources=client.V1CustomResourceSubresources(status={}),
                    )
                ],
            ),
        )
    )
    stream = watch.Watch().stream(
        definitions.list_custom_resource_definition, field_selector=f"metadata.name={name}", timeout_seconds=20
    )
    for event in stream:
        conditions = event["object"].status.conditions or []
        if any(each.type == "Established" and each.status == "True" for each in conditions):
            return
    raise AssertionError("the definition was not established in 20 s")


def writes(api):
    """Create, read, replace, patch in both ways, the status, and what is refused."""
    made = api.create_namespaced_custom_object(body=thing("a", "one"), **WHERE)
    expect(made["metadata"]["generation"], 1, "generation")
    refused(409, api.create_namespaced_custom_object, body=thing("a", "one"), **WHERE)
    read = api.get_namespaced_custom_object(name="a", **WHERE)
    expect(read, made, "what was made")
    read["spec"]["title"] = "two"
    replaced = api.replace_namespaced_custom_object(name="a", body=read, **WHERE)
    expect(replaced["metadata"]["generation"], 2, "generation")
    refused(409, api.replace_namespaced_custom_object, name="a", body=read, **WHERE)
    merged = api.patch_namespaced_custom_object(name="a", body={"spec": {"title": "three"}}, **WHERE)
    expect(merged["spec"]["title"], "three", "merge patch")
    operations = [{"op": "replace", "path": "/spec/title", "value": "four"}]
    json_patch = "application/json-patch+json"
    patched = api.patch_namespaced_custom_object(name="a", body=operations, _content_type=json_patch, **WHERE)
    expect(patched["spec"]["title"], "four", "JSON patch")
    told = api.patch_namespaced_custom_object_status(name="a", body={"status": {"phase": "done"}}, **WHERE)
    expect((told["status"]["phase"], told["metadata"]["generation"]), ("done", 4), "status")
    invalid = refused(422, api.create_namespaced_custom_object, body=thing("b", 7), **WHERE)
    if "spec.title" not in invalid.body:
        raise AssertionError(f"the refusal does not name the field: {invalid.body}")
    refused(404, api.get_namespaced_custom_object, name="nothing", **WHERE)
    for name in ("c", "d"):
        api.create_namespaced_custom_object(body=thing(name, name, labels={"kept": "no"}), **WHERE)
    page = api.list_namespaced_custom_object(limit=2, **WHERE)
    rest = api.list_namespaced_custom_object(limit=2, _continue=page["metadata"]["continue"], **WHERE)
    expect([each["metadata"]["name"] for each in page["items"] + rest["items"]], ["a", "c", "d"], "pages")
    gone = api.delete_namespaced_custom_object(name="a", **WHERE)
    expect(gone["status"], "Success", "delete")
    api.delete_collection_namespaced_custom_object(label_selector="kept=no", **WHERE)
    expect(api.list_namespaced_custom_object(**WHERE)["items"], [], "after deletecollection")


def watches(api):
    """A watch from a list, its end, and one that goes on where that has ended."""

    def events(since, seconds=2, **more):
        stream = watch.Watch().stream(
            api.list_namespaced_custom_object, resource_version=since, timeout_seconds=seconds, **WHERE, **more
        )
        return list(stream)

    since = api.list_namespaced_custom_object(**WHERE)["metadata"]["resourceVersion"]
    api.create_namespaced_custom_object(body=thing("w", "1"), **WHERE)
    api.patch_namespaced_custom_object(name="w", body={"spec": {"title": "2"}}, **WHERE)
    first = events(since)
    expect([(each["type"], each["object"]["spec"]["title"]) for each in first], [("ADDED", "1"), ("MODIFIED", "2")], "watch")
    api.delete_namespaced_custom_object(name="w", **WHERE)
    second = events(first[-1]["object"]["metadata"]["resourceVersion"], allow_watch_bookmarks=True)
    kinds = [each["type"] for each in second if each["type"] != "BOOKMARK"]
    expect(kinds, ["DELETED"], "resumed watch")


def follow(api, url, seconds):
    """List and watch for a while, under writers, as informers do; at the end what is held is the list."""
    held = {}
    stop = threading.Event()

    def write(number):
        # Clients must not be shared among threads that watch.
        own = client.CustomObjectsApi(client.ApiClient(client.Configuration(host=url)))
        for step in range(10_000):
            if stop.is_set():
                return
            name = f"f{number}-{step % 5}"
            try:
                if step % 7 == 6:
                    own.delete_namespaced_custom_object(name=name, **WHERE)
                else:
                    own.patch_namespaced_custom_object(name=name, body={"spec": {"title": str(step)}}, **WHERE)
            except ApiException as error:
                expect(error.status, 404, "a write")
                own.create_namespaced_custom_object(body=thing(name, str(step)), **WHERE)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    listed = api.list_namespaced_custom_object(**WHERE)
    held.update({each["metadata"]["name"]: each for each in listed["items"]})
    since = listed["metadata"]["resourceVersion"]
    for writer in writers:
        writer.start()
    end = time.monotonic() + seconds
    seen = 0
    while True:
        if time.monotonic() > end and not stop.is_set():
            stop.set()
            for writer in writers:
                writer.join()
            final = api.list_namespaced_custom_object(**WHERE)
        stream = watch.Watch().stream(
            api.list_namespaced_custom_object, resource_version=since, timeout_seconds=1, **WHERE
        )
        for event in stream:
            found = event["object"]
            since = found["metadata"]["resourceVersion"]
            seen += 1
            if event["type"] == "DELETED":
                held.pop(found["metadata"]["name"])
            else:
                held[found["metadata"]["name"]] = found
        if stop.is_set():
            break
    expect(sorted(held), sorted(each["metadata"]["name"] for each in final["items"]), "names held")
    for each in final["items"]:
        expect(held[each["metadata"]["name"]], each, "an object held")
    if seen < 20:
        raise AssertionError(f"only {seen} events came")
    print(f"followed {seen} events")


def discovered(api_client):
    """The dynamic client finds the kind by discovery, and applies to it."""
    resource = dynamic.DynamicClient(api_client).resources.get(api_version=f"{GROUP}/{VERSION}", kind="Thing")
    applied = resource.server_side_apply(
        body=thing("applied", "x"), namespace=NAMESPACE, field_manager="python", force_conflicts=True
    )
    expect(applied.spec.title, "x", "apply")
    expect([each.manager for each in applied.metadata.managedFields], ["python"], "managers")


def main(url):
    api_client = client.ApiClient(client.Configuration(host=url))
    api = client.CustomObjectsApi(api_client)
    define(client.ApiextensionsV1Api(api_client))
    writes(api)
    watches(api)
    discovered(api_client)
    follow(api, url, seconds=5)
    expect(client.VersionApi(api_client).get_code().major, "1", "version")
    core = client.CoreV1Api(api_client)
    if NAMESPACE not in [each.metadata.name for each in core.list_namespace().items]:
        raise AssertionError("the namespace is not listed")


main(sys.argv[1])
