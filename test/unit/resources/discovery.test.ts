import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/core/object.ts'
import {
  aggregatedCore,
  aggregatedGroups,
  coreVersions,
  group,
  groupList,
  resourceList,
  versionInfo,
} from '../../../src/resources/discovery.ts'
import { Registry } from '../../../src/resources/registry.ts'
import { established, GROUP, version } from './definitions.ts'

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
const PART_VERBS = ['get', 'patch', 'update']

function registry(): Registry {
  const result = new Registry()
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
  result.apply(
    established({
      plural: 'fleets',
      kind: 'Fleet',
      names: { shortNames: ['fl'], categories: ['all'] },
      versions: [version('v1beta1'), version('v1', { storage: true, subresources: { status: {}, scale } })],
    }),
    1n,
  )
  result.apply(established({ plural: 'zones', kind: 'Zone', scope: 'Cluster' }), 2n)
  return result
}

describe('plain documents', () => {
  test('the core group has the namespaces, and is none of the groups that have a name', () => {
    expect(coreVersions(registry())).toMatchObject({ kind: 'APIVersions', versions: ['v1'] })
    expect(resourceList(registry(), '', 'v1')).toMatchObject({
      groupVersion: 'v1',
      resources: [
        { name: 'namespaces', singularName: 'namespace', namespaced: false, kind: 'Namespace', shortNames: ['ns'] },
        { name: 'namespaces/status' },
      ],
    })
    expect(group(registry(), '')).toBeUndefined()
  })

  test('a group has its versions, the preferred one first', () => {
    const body = {
      name: GROUP,
      versions: [
        { groupVersion: `${GROUP}/v1`, version: 'v1' },
        { groupVersion: `${GROUP}/v1beta1`, version: 'v1beta1' },
      ],
      preferredVersion: { groupVersion: `${GROUP}/v1`, version: 'v1' },
    }
    expect(group(registry(), GROUP)).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...body })
    expect(groupList(registry())).toMatchObject({
      kind: 'APIGroupList',
      groups: [{ name: 'apiextensions.k8s.io' }, body],
    })
    expect(group(registry(), 'nothing.example.com')).toBeUndefined()
  })

  test('resources and their parts', () => {
    expect(resourceList(registry(), GROUP, 'v1')).toEqual({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: `${GROUP}/v1`,
      resources: [
        {
          name: 'fleets',
          singularName: 'fleet',
          namespaced: true,
          kind: 'Fleet',
          verbs: VERBS,
          shortNames: ['fl'],
          categories: ['all'],
        },
        { name: 'fleets/status', singularName: '', namespaced: true, kind: 'Fleet', verbs: PART_VERBS },
        {
          name: 'fleets/scale',
          singularName: '',
          namespaced: true,
          group: 'autoscaling',
          version: 'v1',
          kind: 'Scale',
          verbs: PART_VERBS,
        },
        { name: 'zones', singularName: 'zone', namespaced: false, kind: 'Zone', verbs: VERBS },
      ],
    })
    expect(resourceList(registry(), GROUP, 'v9')).toBeUndefined()
  })

  test('definitions themselves', () => {
    const list = resourceList(registry(), 'apiextensions.k8s.io', 'v1') as { resources: JsonObject[] }
    expect(list.resources[0]).toEqual({
      name: 'customresourcedefinitions',
      singularName: 'customresourcedefinition',
      namespaced: false,
      kind: 'CustomResourceDefinition',
      verbs: VERBS,
      shortNames: ['crd', 'crds'],
      categories: ['api-extensions'],
    })
  })

  test('a kind that is going offers no more writes but deletion', () => {
    const going = established()
    going.metadata.deletionTimestamp = '2026-12-01T00:00:00Z'
    const result = new Registry()
    result.apply(going, 1n)
    expect(resourceList(result, GROUP, 'v1')).toMatchObject({
      resources: [{ verbs: ['delete', 'deletecollection', 'get', 'list', 'watch'] }],
    })
  })
})

describe('the aggregated form', () => {
  test('says the same', () => {
    const list = aggregatedGroups(registry()) as { items: JsonObject[] }
    const responseKind = { group: GROUP, version: 'v1', kind: 'Fleet' }
    expect(list).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {} })
    expect(list.items[1]).toMatchObject({
      metadata: { name: GROUP },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'fleets',
              responseKind,
              scope: 'Namespaced',
              singularResource: 'fleet',
              verbs: VERBS,
              shortNames: ['fl'],
              categories: ['all'],
              subresources: [
                { subresource: 'status', responseKind, verbs: PART_VERBS },
                {
                  subresource: 'scale',
                  responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
                  verbs: PART_VERBS,
                },
              ],
            },
            { resource: 'zones', scope: 'Cluster' },
          ],
        },
        { version: 'v1beta1', resources: [{ resource: 'fleets' }] },
      ],
    })
    expect(aggregatedCore(registry())).toMatchObject({
      kind: 'APIGroupDiscoveryList',
      items: [{ metadata: {}, versions: [{ version: 'v1', resources: [{ resource: 'namespaces' }] }] }],
    })
  })
})

test('/version has what kubectl reads', () => {
  expect(versionInfo({ version: '1.2.3' })).toMatchObject({
    major: '1',
    minor: '37',
    gitVersion: expect.stringMatching(/^v1\.37\.0\+listwatch\.1\.2\.3$/),
  })
})
