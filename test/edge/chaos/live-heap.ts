import { once } from 'node:events'
import { withTimeout } from '../../support/with-timeout.ts'

const ANSWER_MS = 30_000

interface Message {
  id?: number
  method?: string
  // biome-ignore lint/suspicious/noExplicitAny: what each method answers
  params?: any
  // biome-ignore lint/suspicious/noExplicitAny: what each method answers
  result?: any
}

/**
 * Megabytes of a workerd's heap that are in use after everything that nobody refers to has been collected, as its inspector
 * tells: what the process holds beside it (caches, pages not given back) says nothing of a leak.
 */
export async function liveHeapMegabytes(inspector: string): Promise<number> {
  const [target] = (await (await fetch(`http://${inspector}/json`)).json()) as { webSocketDebuggerUrl: string }[]
  if (target === undefined) throw new Error(`nothing to inspect at ${inspector}`)
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  const came = (is: (message: Message) => boolean, what: string): Promise<Message> =>
    withTimeout(
      new Promise((resolve) => {
        socket.addEventListener('message', ({ data }) => {
          const message = JSON.parse(String(data)) as Message
          if (is(message)) resolve(message)
        })
      }),
      ANSWER_MS,
      what,
    )
  let count = 0
  const ask = (method: string, params: object = {}): Promise<Message> => {
    count += 1
    const id = count
    socket.send(JSON.stringify({ id, method, params }))
    return came((message) => message.id === id, method)
  }
  try {
    await withTimeout(once(socket, 'open'), ANSWER_MS, 'the inspector')
    // HeapProfiler.collectGarbage is never answered; the function is there by a flag of V8 (see workerd.ts).
    const [context] = await Promise.all([
      came(({ method }) => method === 'Runtime.executionContextCreated', 'a context'),
      ask('Runtime.enable'),
    ])
    const { result } = await ask('Runtime.evaluate', { expression: 'gc()', contextId: context.params.context.id })
    if (result?.exceptionDetails !== undefined) throw new Error(`no garbage was collected: ${JSON.stringify(result)}`)
    return (await ask('Runtime.getHeapUsage')).result.usedSize / 1_024 ** 2
  } finally {
    socket.close()
  }
}
