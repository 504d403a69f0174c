import { describe, expect, test } from 'vitest'
import { type Answered, HttpCollection, send, thingDefinition } from '../support/http-collection.ts'
import type { Face } from '../support/stream-reader.ts'

const GROUP = 'kinds.example.com'

/** What requests and watches of a kind see while its definition changes. */
export function describeKinds(context: { url(): string }): void {
  describe('kinds that change', () => {
    const definitions = () => `${context.url()}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`

    // biome-ignore lint/suspicious/noExplicitAny: a test changes what it likes
    async function define(plural: string, change: (definition: any) => void): Promise<Answered> {
      const definition = thingDefinition(GROUP, { plural, kind: plural.toUpperCase() })
      change(definition)
      const answer = await send(definitions(), { method: 'POST', body: definition })
      expect(answer.status).toBe(201)
      return answer
    }

    // biome-ignore lint/suspicious/noExplicitAny: a test changes what it likes
    async function redefine(plural: string, change: (definition: any) => void): Promise<void> {
      const url = `${definitions()}/${plural}.${GROUP}`
      const { body } = await send(url)
      change(body)
      const { status } = await send(url, { method: 'PUT', body })
      expect(status).toBe(200)
    }

    test.each<Face>(['json', 'sse'])('only watches of a version that is served no more end (%s)', async (face) => {
      const plural = `turns${face}`
      await define(plural, ({ spec }) => {
        spec.versions = [
          { ...spec.versions[0], name: 'v1', storage: false },
          { ...spec.versions[0], name: 'v2', storage: true },
        ]
      })
      const [old, kept] = ['v1', 'v2'].map(
        (version) =>
          new HttpCollection({
            ...{ server: context.url(), group: GROUP, namespace: 'ns1', version },
            ...{ plural, kind: plural.toUpperCase() },
          }),
      ) as [HttpCollection, HttpCollection]
      try {
        const revision = await kept.create('a', '1')
        const [ended, other] = await Promise.all(
          [old, kept].map((each) => each.watch(face, `resourceVersion=${revision}`)),
        )
        await old.set('a', '2')
        for (const stream of [ended, other]) expect(await stream?.lines(1)).toEqual(['MODIFIED a 2'])

        await redefine(plural, ({ spec }) => {
          spec.versions[0].served = false
        })
        expect(await ended?.end()).toBe('clean')
        for (const answer of [await old.list(), await old.list('watch=1'), await old.get('a')]) {
          expect([answer.status, answer.body.reason]).toEqual([404, 'NotFound'])
        }
        await kept.set('a', '3')
        expect(await other?.lines(1)).toEqual(['MODIFIED a 3'])
        expect(other?.ended).toBeUndefined()
      } finally {
        old.close()
        kept.close()
        await send(`${definitions()}/${plural}.${GROUP}`, { method: 'DELETE' })
      }
    })
  })
}
