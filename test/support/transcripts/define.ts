import { until } from '../with-timeout.ts'
import type { RawServer } from './raw-server.ts'
import type { Loose } from './transcript.ts'

/** Makes a kind, and waits until every version of it is served. */
export async function define(server: RawServer, definition: Loose): Promise<void> {
  const answer = await server.send({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: definition,
  })
  const { name } = definition.metadata
  if (answer.status !== 201) throw new Error(`the definition of ${name} was answered ${answer.status}: ${answer.text}`)
  for (const version of definition.spec.versions as { name: string; served: boolean }[]) {
    if (!version.served) continue
    const path = `/apis/${definition.spec.group}/${version.name}/${definition.spec.names.plural}`
    await until(async () => (await server.send({ path })).status === 200, 20_000, `${path} to be served`)
  }
}
