import { describeHttp } from '../../contracts/http.contract.ts'
import { Workerd } from '../../support/workerd.ts'

const SHARDS = ['things', 'others', 'zones'].map((plural) => `${plural}.http.example.com`)

describeHttp(
  'workerd and a Durable Object for each kind',
  async () => {
    const workerd = await Workerd.start({
      LISTWATCH_READ_WAIT_MS: '300',
      LISTWATCH_AHEAD_WAIT_MS: '300',
      // On a silent stream nothing tells of a reader that has gone before something is written.
      LISTWATCH_HEARTBEAT_MS: '250',
    })
    return {
      url: workerd.url,
      async compact({ tombstones }) {
        await Promise.all(SHARDS.map((shard) => workerd.ask('compact', shard, `tombstones=${tombstones}`)))
      },
      async openStreams() {
        const counts = await Promise.all(SHARDS.map((shard) => workerd.ask<number>('streams', shard)))
        return counts.reduce((sum, count) => sum + count)
      },
      close: () => workerd.close(),
    }
  },
  { kindsShareOneOrder: false },
)
