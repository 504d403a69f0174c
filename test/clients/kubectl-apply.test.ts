import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithKubectl, Kubectl } from '../support/kubectl.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { ServedProcess } from '../support/serve.ts'

const GROUP = 'apply.example.dev'
const text = { type: 'string' }

const definition = JSON.stringify({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gadgets.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  color: text,
                  size: text,
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: { type: 'object', required: ['name'], properties: { name: text, weight: text } },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
})

const gadget = (name: string, spec: object) =>
  JSON.stringify({ apiVersion: `${GROUP}/v1`, kind: 'Gadget', metadata: { name, namespace: 'default' }, spec })

describeWithKubectl('kubectl apply --server-side', () => {
  let database: TestDatabase
  let server: ServedProcess
  let kubectl: Kubectl

  const apply = (name: string, spec: object, ...more: string[]) =>
    kubectl.run(['apply', '--server-side', '-f', '-', ...more], { stdin: gadget(name, spec) })

  const specOf = async (name: string): Promise<object> =>
    JSON.parse(await kubectl.ok(['get', 'gadget', name, '-o', 'jsonpath={.spec}']))

  const managersOf = async (name: string): Promise<string> =>
    kubectl.ok(['get', 'gadget', name, '-o', 'jsonpath={.metadata.managedFields[*].manager}'])

  beforeAll(async () => {
    database = await createTestDatabase()
    server = await ServedProcess.start({ env: { DATABASE_URL: database.url } })
    kubectl = new Kubectl(server.url)
    // A definition is applied like any object, and the same again is no change.
    for (let times = 0; times < 2; times += 1) {
      expect(await kubectl.ok(['apply', '--server-side', '-f', '-'], { stdin: definition })).toBe(
        `customresourcedefinition.apiextensions.k8s.io/gadgets.${GROUP} serverside-applied\n`,
      )
    }
    await kubectl.ok(['wait', '--for=condition=Established', `crd/gadgets.${GROUP}`, '--timeout=10s'])
  }, 60_000)

  afterAll(async () => {
    kubectl?.close()
    await server?.stop()
    await database?.drop()
  })

  test('K07 two managers: each its own items, a conflict, force, and what is left out goes', async () => {
    const mine = { color: 'red', parts: [{ name: 'wheel', weight: '1' }] }
    expect((await apply('a', mine)).stdout).toBe(`gadget.${GROUP}/a serverside-applied\n`)
    const other = { parts: [{ name: 'axle', weight: '2' }] }
    expect((await apply('a', other, '--field-manager=robot')).code).toBe(0)
    expect(await specOf('a')).toEqual({ color: 'red', parts: [...mine.parts, ...other.parts] })
    expect((await managersOf('a')).split(' ').sort()).toEqual(['kubectl', 'robot'])

    const wanted = { color: 'blue', ...other }
    const refused = await apply('a', wanted, '--field-manager=robot')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('error: Apply failed with 1 conflict: conflict with "kubectl": .spec.color')
    expect(refused.stderr).toContain('--force-conflicts')
    expect((await apply('a', wanted, '--field-manager=robot', '--force-conflicts')).code).toBe(0)
    expect(await specOf('a')).toMatchObject({ color: 'blue' })

    // What kubectl no longer says goes; the color is not its own any more.
    expect((await apply('a', { size: 'L' })).code).toBe(0)
    expect(await specOf('a')).toEqual({ color: 'blue', parts: other.parts, size: 'L' })
  }, 60_000)

  test('K07 diff --server-side shows what an apply would change, and changes nothing', async () => {
    await apply('b', { color: 'red', size: 'L' })
    const same = await kubectl.run(['diff', '--server-side', '-f', '-'], {
      stdin: gadget('b', { color: 'red', size: 'L' }),
    })
    expect([same.code, same.stdout]).toEqual([0, ''])
    const differs = await kubectl.run(['diff', '--server-side', '-f', '-'], { stdin: gadget('b', { color: 'blue' }) })
    expect(differs.code).toBe(1)
    expect(differs.stdout).toMatch(/^- {2}color: red\n- {2}size: L\n\+ {2}color: blue$/m)
    expect(await specOf('b')).toEqual({ color: 'red', size: 'L' })
  }, 60_000)

  test('K07 what was applied by kubectl alone is taken over, and its annotation follows', async () => {
    await kubectl.ok(['apply', '-f', '-'], { stdin: gadget('c', { color: 'red', size: 'L' }) })
    expect((await apply('c', { color: 'blue' })).code).toBe(0)
    expect(await specOf('c')).toEqual({ color: 'blue' })
    // kubectl itself moves its old entry to the new manager, and keeps one for the annotation.
    expect((await managersOf('c')).split(' ').sort()).toEqual(['kubectl', 'kubectl-last-applied'])
    expect(await kubectl.ok(['apply', 'view-last-applied', 'gadget/c', '-o', 'json'])).toContain('"color": "blue"')
    // And back again.
    await kubectl.ok(['apply', '-f', '-'], { stdin: gadget('c', { color: 'green' }) })
    expect(await specOf('c')).toEqual({ color: 'green' })
  }, 60_000)
})
