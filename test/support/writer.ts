import { randomUUID } from 'node:crypto'
import type { Coordinator } from '../../src/coordinator/coordinator.ts'
import type { JsonObject } from '../../src/core/object.ts'
import type { WriteOutcome, WriteRequest } from '../../src/ports/change-log.ts'
import { stored } from './changes.ts'

export const THINGS = 'things.test.example.dev'

interface Content {
  namespace?: string
  resource?: string
  labels?: Record<string, string>
  spec?: JsonObject
}

/** Writes objects and remembers their revisions and uids. */
export class TestWriter {
  readonly #coordinator: Pick<Coordinator, 'write'>
  readonly #known = new Map<string, { revision: bigint; uid: string }>()

  constructor(coordinator: Pick<Coordinator, 'write'>) {
    this.#coordinator = coordinator
  }

  create(name: string, content: Content = {}): Promise<bigint> {
    return this.#write('create', name, randomUUID(), content)
  }

  update(name: string, content: Content = {}): Promise<bigint> {
    return this.#write('update', name, this.#at(name, content).uid, content)
  }

  delete(name: string, content: Content = {}): Promise<bigint> {
    return this.#write('delete', name, '', content)
  }

  async #write(action: WriteRequest['action'], name: string, uid: string, content: Content): Promise<bigint> {
    const { namespace = 'default', resource = THINGS } = content
    const outcome: WriteOutcome = await this.#coordinator.write({
      action,
      resource,
      namespace,
      name,
      uid,
      writeId: randomUUID(),
      ...(action === 'delete' ? {} : { object: stored(name, content) }),
      ...(action === 'create' ? {} : { expectedRevision: this.#at(name, content).revision }),
    })
    if (outcome.result !== 'written') throw new Error(`${action} of ${name}: ${outcome.result}`)
    this.#known.set(`${resource} ${namespace}/${name}`, { revision: outcome.revision, uid })
    return outcome.revision
  }

  #at(name: string, { namespace = 'default', resource = THINGS }: Content): { revision: bigint; uid: string } {
    const known = this.#known.get(`${resource} ${namespace}/${name}`)
    if (known === undefined) throw new Error(`${name} has not been created`)
    return known
  }
}
