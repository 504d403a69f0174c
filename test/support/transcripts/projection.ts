import { type Key, lookUp, parsePath } from './template.ts'
import type { Loose, Projection } from './transcript.ts'

/** The part of an answer that its step wants to see. */
export function project(got: Loose, step: Projection): Loose {
  for (const { at, key, equals } of step.keep ?? []) {
    const list = lookUp(got, parsePath(at))
    if (!Array.isArray(list)) continue
    list.splice(0, list.length, ...list.filter((item) => lookUp(item, parsePath(key)) === equals))
  }
  for (const path of step.unordered ?? []) {
    const list = lookUp(got, parsePath(path))
    if (Array.isArray(list)) list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  const picked = step.pick && got.body !== undefined ? { ...got, body: pickPaths(got.body, step.pick) } : got
  for (const [path, pattern] of Object.entries(step.excerpt ?? {})) excerpt(picked, parsePath(path), pattern)
  if (step.show === undefined) return picked
  return Object.fromEntries(Object.entries(picked).filter(([name]) => step.show?.includes(name)))
}

function excerpt(root: Loose, keys: Key[], pattern: string): void {
  const holder = lookUp(root, keys.slice(0, -1))
  const last = keys.at(-1)!
  if (typeof holder?.[last] === 'string')
    holder[last] = new RegExp(pattern, 'su').exec(holder[last])?.[0] ?? holder[last]
}

/** Frames as the step wants to see them. */
export function sortedFrames(frames: Loose[], step: Projection): Loose {
  if (step.count) {
    const count: Record<string, number> = {}
    for (const { type } of frames) count[type] = (count[type] ?? 0) + 1
    return { count }
  }
  const ordered = step.anyOrder ? frames.slice().sort((a, b) => (frameKey(a) < frameKey(b) ? -1 : 1)) : frames
  const { fields } = step
  return { frames: fields ? ordered.map((frame) => pickPaths(frame, fields)) : ordered }
}

/** The bookmark that ends a block comes after its objects; these by namespace and name. */
function frameKey({ type, object }: Loose): string {
  const { metadata } = (object?.kind === 'Table' ? object.rows?.[0]?.object : object) ?? {}
  return [type === 'BOOKMARK' ? '1' : '0', metadata?.namespace ?? '', metadata?.name ?? ''].join('\0')
}

/**
 * Values by path. In a path `*` walks a list, `#keys` takes the sorted keys of an object and `#kind:Thing` the OpenAPI
 * schema of that kind. A list of paths labels each with itself.
 */
function pickPaths(value: Loose, paths: NonNullable<Projection['pick']>): Loose {
  const entries: [string, string | Key[]][] = Array.isArray(paths)
    ? paths.map((path) => [path, path])
    : Object.entries(paths)
  return Object.fromEntries(
    entries.map(([label, path]) => [label, pick(value, Array.isArray(path) ? path : parsePath(path))]),
  )
}

function pick(value: Loose, keys: Key[]): Loose {
  const [key, ...rest] = keys
  if (key === undefined) return value
  if (value === null || value === undefined) return undefined
  if (key === '*') return (Array.isArray(value) ? value : Object.values(value)).map((item: Loose) => pick(item, rest))
  if (key === '#keys') return Object.keys(value).sort()
  if (typeof key === 'string' && key.startsWith('#kind:')) {
    const kind = key.slice('#kind:'.length)
    return pick(
      Object.values<Loose>(value).find((schema) =>
        schema?.['x-kubernetes-group-version-kind']?.some((entry: Loose) => entry.kind === kind),
      ),
      rest,
    )
  }
  return pick(value[key], rest)
}
