import { ApiError } from '../errors.ts'
import type { ApiObject } from '../object.ts'
import type { KindRules } from './kind-rules.ts'
import { withManagers } from './managed-write.ts'
import { formatTime } from './metadata-decoder.ts'
import { finalizerWarnings } from './metadata-validation.ts'
import { checkNamespace, withoutStatus } from './request-identity.ts'
import { validateObject } from './validation.ts'

const MAX_GENERATED_BASE = 58
const SUFFIX_LENGTH = 5
// Kubernetes leaves out vowels and what looks alike, so that no words arise (apimachinery pkg/util/rand).
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

export interface PreparedCreate {
  object: ApiObject
  warnings: string[]
}

/**
 * Makes of a decoded object the one to store (kubernetes.md 4.1, 4.2), or throws what a client is told. The server's part
 * of the metadata is set, whatever the client has said of it.
 */
export function prepareCreate(
  kind: KindRules,
  decoded: ApiObject,
  options: {
    /** Of the URL; '' for cluster scope. */
    namespace: string
    uid: string
    /** Milliseconds since 1970. */
    now: number
    /** A number from 0 up to 1, for a generated name. */
    random: () => number
    /** Who creates, to own what is created. Absent for an apply, whose result says itself who owns what. */
    manager?: string
  },
): PreparedCreate {
  checkNamespace(kind, decoded, options.namespace)
  const { name, generateName, resourceVersion, labels, annotations, ownerReferences, finalizers, managedFields } =
    decoded.metadata
  const named: ApiObject = {
    ...(kind.subresources.status ? withoutStatus(decoded) : decoded),
    metadata: withoutUndefined({
      name: name ?? (generateName === undefined ? undefined : generatedName(generateName, options.random)),
      generateName,
      namespace: options.namespace === '' ? undefined : options.namespace,
      uid: options.uid,
      generation: 1,
      creationTimestamp: formatTime(options.now),
      labels,
      annotations,
      ownerReferences,
      finalizers,
      managedFields,
    }),
  }
  const prepared = kind.builtin?.prepare(named) ?? named
  validateObject(kind, prepared)
  if (resourceVersion !== undefined && resourceVersion !== '0') {
    // Not Invalid: the real server finds it only in its storage.
    throw new ApiError('', 'resourceVersion should not be set on objects to be created')
  }
  const { manager, now } = options
  const object = manager === undefined ? prepared : withManagers(kind, { after: prepared }, { manager, now })
  return {
    object,
    warnings: [...finalizerWarnings(object.metadata), ...(kind.builtin?.warnings(object) ?? [])],
  }
}

/** A name of its own for each call, with high probability. */
function generatedName(base: string, random: () => number): string {
  let suffix = ''
  for (let index = 0; index < SUFFIX_LENGTH; index += 1) {
    suffix += SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)]
  }
  return base.slice(0, MAX_GENERATED_BASE) + suffix
}

function withoutUndefined<T extends object>(object: T): T {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T
}
