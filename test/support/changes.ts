import type { Change } from '../../src/core/change.ts'
import type { JsonObject } from '../../src/core/object.ts'
import { StoredObject } from '../../src/core/stored-object.ts'

/** A stored object; only what matters is spelled out. */
export function stored(
  name: string,
  more: { namespace?: string; labels?: Record<string, string>; spec?: JsonObject } = {},
) {
  const { namespace = 'default', labels, spec } = more
  return StoredObject.of({
    apiVersion: 'test.example.dev/v1',
    kind: 'Thing',
    metadata: { name, namespace, ...(labels === undefined ? {} : { labels }) },
    ...(spec === undefined ? {} : { spec }),
  })
}

/** A change; only what matters is spelled out. */
export function change(revision: bigint, more: Partial<Change> = {}): Change {
  const name = more.name ?? `thing-${revision}`
  return {
    revision,
    writeId: `write-${revision}`,
    resource: 'things.test.example.dev',
    namespace: 'default',
    name,
    uid: `uid-${name}`,
    action: 'create',
    object: more.object ?? stored(name),
    ...more,
  }
}
