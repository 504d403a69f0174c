import { describeTranscripts } from '../../contracts/transcripts.contract.ts'
import { Workerd } from '../../support/workerd.ts'

describeTranscripts('workerd and one Durable Object', async () => {
  // One object, so that all kinds share one counter, as they do in Kubernetes.
  const workerd = await Workerd.start({ LISTWATCH_SHARDS: 'none' })
  return {
    url: workerd.url,
    compact: () => workerd.ask('compact', 'definitions'),
    close: () => workerd.close(),
  }
})
