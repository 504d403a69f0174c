import type { MergeField, MergeType } from './merge-type.ts'

const TEXT: MergeType = { scalar: 'string' }
const NUMBER: MergeType = { scalar: 'numeric' }
const FLAG: MergeType = { scalar: 'boolean' }
/** A time is a text for all but Kubernetes, whose schema leaves open what it is. */
const TIME: MergeType = { scalar: 'untyped' }
const TEXTS: MergeType = { map: { fields: new Map(), others: TEXT, atomic: false } }

const OWNER: MergeType = structure(
  { apiVersion: TEXT, blockOwnerDeletion: FLAG, controller: FLAG, kind: TEXT, name: TEXT, uid: TEXT },
  { atomic: true },
)

/** `metadata` of every object (apimachinery pkg/apis/meta/v1 ObjectMeta), but for its managedFields: those own, and are not owned. */
const OBJECT_META: MergeType = structure({
  annotations: TEXTS,
  creationTimestamp: TIME,
  deletionGracePeriodSeconds: NUMBER,
  deletionTimestamp: TIME,
  finalizers: { list: { items: TEXT, kind: 'set', keys: [] } },
  generateName: TEXT,
  generation: NUMBER,
  labels: TEXTS,
  name: TEXT,
  namespace: TEXT,
  ownerReferences: { list: { items: OWNER, kind: 'map', keys: ['uid'] } },
  resourceVersion: TEXT,
  selfLink: TEXT,
  uid: TEXT,
})

/** What every resource has, also one that stands inside another. */
export const RESOURCE_FIELDS: readonly (readonly [name: string, field: MergeField])[] = [
  ['apiVersion', { type: TEXT }],
  ['kind', { type: TEXT }],
  ['metadata', { type: OBJECT_META }],
]

/** Scale of autoscaling/v1. */
export const SCALE: MergeType = {
  map: {
    fields: new Map<string, MergeField>([
      ...RESOURCE_FIELDS,
      ['spec', { type: structure({ replicas: NUMBER }) }],
      ['status', { type: structure({ replicas: NUMBER, selector: TEXT }) }],
    ]),
    atomic: false,
  },
}

/** An object of just these fields. */
function structure(types: Record<string, MergeType>, options: { atomic: boolean } = { atomic: false }): MergeType {
  return {
    map: { fields: new Map(Object.entries(types).map(([name, type]) => [name, { type }])), atomic: options.atomic },
  }
}
