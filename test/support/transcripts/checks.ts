import type { Loose, Step } from './transcript.ts'
import type { WatchedFrame } from './watched.ts'

type Verdict = { holds: boolean; why?: string }
type Values = Record<string, Loose>

/** Judge several answers together, where what came is another in every run but must agree with itself. */
export const checks: Record<NonNullable<Step['check']>, (step: Step, values: Values) => Verdict> = {
  /** Every watch in `of` shows the same events in the same order from where it began, versions rising. */
  suffixes({ of = [] }, values) {
    const streams = of.map((name) => (values[name].frames as WatchedFrame[]).filter(isEvent).map(eventOf))
    for (const [i, stream] of streams.entries()) {
      const fall = stream.findIndex((event, at) => at > 0 && event.version <= stream[at - 1]!.version)
      if (fall !== -1) return no(`${of[i]}: event ${fall} is not above the one before it`)
    }
    const longest = streams.reduce((a, b) => (a.length >= b.length ? a : b))
    for (const [i, stream] of streams.entries()) {
      const tail = longest.slice(longest.length - stream.length)
      const odd = stream.findIndex((event, at) => event.text !== tail[at]!.text)
      if (odd !== -1) return no(`${of[i]}: event ${odd} is another than on the longest stream`)
    }
    return { holds: true }
  },

  /** The list `from`, or nothing, with the events of a watch up to the version of the list `equals` is that list. */
  replay({ from, events = '', equals = '' }, values) {
    const initial: Loose[] = from === undefined ? [] : values[from].items
    const state = new Map(initial.map((item) => [keyOf(item), sorted(item)]))
    const end = BigInt(values[equals].metadata.resourceVersion)
    for (const { type, object } of (values[events].frames as WatchedFrame[]).filter(isEvent)) {
      if (BigInt(object.metadata.resourceVersion) > end) break
      if (type === 'DELETED') state.delete(keyOf(object))
      else state.set(keyOf(object), sorted(object))
    }
    const wanted = new Map((values[equals].items as Loose[]).map((item) => [keyOf(item), sorted(item)]))
    for (const [key, text] of wanted) {
      if (!state.has(key)) return no(`${key} is in the list, not in the replay`)
      if (state.get(key) !== text) return no(`${key} is another in the replay than in the list`)
    }
    const more = [...state.keys()].find((key) => !wanted.has(key))
    return more === undefined ? { holds: true } : no(`${more} is in the replay, not in the list`)
  },
}

function no(why: string): Verdict {
  return { holds: false, why }
}

function isEvent({ type }: WatchedFrame): boolean {
  return type !== 'BOOKMARK'
}

function eventOf({ type, object }: WatchedFrame): { version: bigint; text: string } {
  const { resourceVersion } = object.metadata
  return { version: BigInt(resourceVersion), text: `${type} ${keyOf(object)} ${resourceVersion}` }
}

function keyOf({ metadata }: Loose): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

/** JSON text with its keys in order. */
function sorted(value: Loose): string {
  return JSON.stringify(value, (_, item) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}
