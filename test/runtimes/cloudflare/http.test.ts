import { describeHttp } from '../../contracts/http.contract.ts'
import { Workerd } from '../../support/workerd.ts'

const SHARDS = ['things', 'others', 'zones'].map((plural) => `${plural}.http.example.com`)

interface Routing {
  name: string
  variables: Record<string, string>
  relays: number
}

const routings: Routing[] = [
  { name: 'a Durable Object for each kind', variables: {}, relays: 0 },
  { name: 'streams held by the Worker', variables: { LISTWATCH_STREAMS: 'worker' }, relays: 0 },
  { name: 'two relays', variables: { LISTWATCH_RELAYS: '2' }, relays: 2 },
]

for (const { name, variables, relays } of routings) {
  const serving =
    relays === 0 ? SHARDS : SHARDS.flatMap((shard) => [...Array(relays).keys()].map((k) => `relay:${shard}:${k}`))
  describeHttp(
    `workerd and ${name}`,
    async () => {
      const workerd = await Workerd.start({
        LISTWATCH_AHEAD_WAIT_MS: '300',
        // On a silent stream nothing tells of a reader that has gone before something is written.
        LISTWATCH_HEARTBEAT_MS: '250',
        ...variables,
      })
      return {
        url: workerd.url,
        async compact({ tombstones }) {
          await Promise.all(SHARDS.map((shard) => workerd.ask('compact', shard, `tombstones=${tombstones}`)))
        },
        async openStreams() {
          const counts = await Promise.all(serving.map((object) => workerd.ask<number>('streams', object)))
          return counts.reduce((sum, count) => sum + count)
        },
        close: () => workerd.close(),
      }
    },
    { kindsShareOneOrder: false },
  )
}
