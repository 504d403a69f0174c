import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ChaosReader } from './reader.ts'
import { type Labels, type Selection, selects } from './selection.ts'

interface Row {
  rv: bigint
  namespace: string
  name: string
  uid: string
  action: 'create' | 'update' | 'delete'
  object: string
}

interface Held {
  namespace: string
  labels: Labels
  version: string
}

/** What was committed, read from the files of the server after its death: by other code than the server's. */
export class History {
  readonly #rows: Row[]

  private constructor(rows: Row[]) {
    this.#rows = rows
  }

  /** Of one resource, as the log calls it. */
  static async read(storage: string, resource: string): Promise<History> {
    for (const file of await readdir(storage, { recursive: true })) {
      if (!file.endsWith('.sqlite')) continue
      const rows = rowsOf(join(storage, file), resource)
      if (rows.length > 0) return new History(rows)
    }
    throw new Error(`no object in ${storage} holds any change of ${resource}`)
  }

  get length(): number {
    return this.#rows.length
  }

  /** Answered writes that are not there. */
  missing(acknowledged: readonly string[]): string[] {
    const written = new Set(
      this.#rows.map(({ action, uid, namespace, name, rv }) =>
        action === 'delete' ? `delete ${uid}` : `${namespace}/${name}@${rv}`,
      ),
    )
    return acknowledged.filter((write) => !written.has(write)).map((write) => `answered, but not written: ${write}`)
  }

  /** Writes that are there, though they were answered not to have happened. */
  denied(notes: readonly string[]): string[] {
    const written = new Set(this.#rows.map(({ object }) => JSON.parse(object).spec?.note))
    return notes.filter((note) => written.has(note)).map((note) => `denied, but written: ${note}`)
  }

  /** What a reader was told falsely, or not told: at most the first few of each. */
  judge(reader: ChaosReader): string[] {
    const { selection, startVersion, startState, events } = reader
    const expected = this.#replay(selection, startVersion)
    return [
      ...differences('state', startState, expected.startState),
      ...differences('event', events, expected.events),
      ...(reader.state === expected.endState ? [] : [`ends with ${reader.state}, not ${expected.endState}`]),
    ]
  }

  #replay(selection: Selection, startVersion: string): { startState: string[]; events: string[]; endState: string } {
    const held = new Map<string, Held>()
    const events: string[] = []
    const state = () =>
      [...held].flatMap(([key, object]) => (selects(selection, object) ? [`${key}@${object.version}`] : []))
    let startState: string[] | undefined
    for (const { rv, namespace, name, action, object } of this.#rows) {
      if (startState === undefined && rv > BigInt(startVersion)) startState = state()
      const key = `${namespace}/${name}`
      const version = String(rv)
      const before = held.get(key)
      const after = { namespace, labels: JSON.parse(object).metadata.labels ?? {}, version }
      const was = before !== undefined && selects(selection, before)
      const is = action !== 'delete' && selects(selection, after)
      if (action === 'delete') held.delete(key)
      else held.set(key, after)
      if (startState === undefined || (!was && !is)) continue
      events.push(`${was ? (is ? 'MODIFIED' : 'DELETED') : 'ADDED'} ${key}@${version}`)
    }
    return { startState: startState ?? state(), events, endState: state().sort().join(' ') }
  }
}

function rowsOf(file: string, resource: string): Row[] {
  const database = new DatabaseSync(file)
  try {
    const table = database.prepare("select 1 from sqlite_master where name = 'entity_history'").get()
    if (table === undefined) return []
    const statement = database.prepare(
      'select rv, namespace, name, uid, action, object from entity_history where resource = ? order by rv',
    )
    statement.setReadBigInts(true)
    return statement.all(resource) as unknown as Row[]
  } finally {
    database.close()
  }
}

const MAX_SHOWN = 3

/** Lost, doubled and made up; and, if each is there once, the first that is out of order. States have no order. */
function differences(what: 'state' | 'event', told: readonly string[], expected: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const one of told) counts.set(one, (counts.get(one) ?? 0) + 1)
  const known = new Set(expected)
  const groups = {
    lost: expected.filter((one) => !counts.has(one)),
    doubled: [...counts].filter(([, count]) => count > 1).map(([one]) => one),
    'made up': [...counts.keys()].filter((one) => !known.has(one)),
  }
  const found = Object.entries(groups).flatMap(([how, ones]) =>
    ones.slice(0, MAX_SHOWN).map((one) => `${what} ${how} (${ones.length} in all): ${one}`),
  )
  if (what === 'state' || found.length > 0) return found
  const index = expected.findIndex((one, index) => told[index] !== one)
  return index < 0 ? [] : [`event out of order: ${told[index]} instead of ${expected[index]}`]
}
