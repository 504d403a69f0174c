import { forbidden, invalidValue, requiredValue, tooLong } from '../field-error.ts'
import { goQuote } from '../go-format.ts'
import { isJsonObject, type JsonObject, type ObjectMeta } from '../object.ts'
import type { StatusCause } from '../status.ts'
import { labelNameProblems, labelValueProblems, qualifiedNameProblems, subdomainProblems } from './name-rules.ts'

const MAX_ANNOTATION_BYTES = 256 * 1024

/** Finalizers of Kubernetes itself, which have no domain. */
const STANDARD_FINALIZERS: readonly string[] = ['orphan', 'foregroundDeletion', 'kubernetes']

/** What is wrong with decoded metadata (apimachinery pkg/api/validation/objectmeta.go ValidateObjectMetaAccessor). */
export function validateMetadata(
  metadata: ObjectMeta,
  options: { namespaced: boolean; nameProblems?: ((name: string) => string[]) | undefined },
): StatusCause[] {
  const { nameProblems = subdomainProblems } = options
  const causes: StatusCause[] = []
  const say = (field: string, value: string, problems: string[]) =>
    causes.push(...problems.map((problem) => invalidValue(`metadata.${field}`, value, problem)))

  if (metadata.generateName !== undefined) {
    say('generateName', metadata.generateName, nameProblems(withoutTrailingDash(metadata.generateName)))
  }
  if (metadata.name === undefined) causes.push(requiredValue('metadata.name', 'name or generateName is required'))
  else say('name', metadata.name, nameProblems(metadata.name))
  if (options.namespaced) {
    if (metadata.namespace === undefined) causes.push(requiredValue('metadata.namespace'))
    else say('namespace', metadata.namespace, labelNameProblems(metadata.namespace))
  }
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    say('labels', key, qualifiedNameProblems(key))
    say('labels', value, labelValueProblems(value))
  }
  causes.push(...validateAnnotations(metadata.annotations ?? {}))
  causes.push(...validateOwners(metadata.ownerReferences))
  for (const finalizer of metadata.finalizers ?? []) say('finalizers', finalizer, qualifiedNameProblems(finalizer))
  return causes
}

/** What an update may not change. Both sides are decoded, and what the server owns is already restored in `metadata`. */
export function validateMetadataUpdate(metadata: ObjectMeta, old: ObjectMeta): StatusCause[] {
  const causes: StatusCause[] = []
  for (const field of ['uid', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const) {
    if (metadata[field] !== old[field]) {
      causes.push(invalidValue(`metadata.${field}`, metadata[field] ?? null, 'field is immutable'))
    }
  }
  if (old.deletionTimestamp !== undefined) {
    const added = addedFinalizers(metadata, old)
    if (added.length > 0) {
      const names = added.map(goQuote).join(', ')
      causes.push(
        forbidden(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${names}}`,
        ),
      )
    }
  }
  return causes
}

/** Texts of the warnings about finalizers that were not there before (kubernetes.md 8.2, item 8). */
export function finalizerWarnings(metadata: ObjectMeta, old?: ObjectMeta): string[] {
  return addedFinalizers(metadata, old)
    .filter((name) => !name.includes('/') && !STANDARD_FINALIZERS.includes(name))
    .map(
      (name) =>
        `metadata.finalizers: ${goQuote(name)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    )
}

function addedFinalizers(metadata: ObjectMeta, old: ObjectMeta | undefined): string[] {
  const before = new Set(old?.finalizers)
  return [...new Set(metadata.finalizers)].filter((name) => !before.has(name)).sort()
}

function validateAnnotations(annotations: Record<string, string>): StatusCause[] {
  const causes: StatusCause[] = []
  for (const key of Object.keys(annotations)) {
    // Keys may be in upper case, unlike those of labels.
    for (const problem of qualifiedNameProblems(key.toLowerCase())) {
      causes.push(invalidValue('metadata.annotations', key, problem))
    }
  }
  if (!annotationsFit(annotations)) causes.push(tooLong('metadata.annotations', MAX_ANNOTATION_BYTES))
  return causes
}

/** Are all annotations of an object together within their bound? */
export function annotationsFit(annotations: Record<string, string>): boolean {
  let bytes = 0
  for (const [key, value] of Object.entries(annotations)) bytes += utf8Length(key) + utf8Length(value)
  return bytes <= MAX_ANNOTATION_BYTES
}

function validateOwners(value: unknown): StatusCause[] {
  const owners = Array.isArray(value) ? value.filter(isJsonObject) : []
  const causes: StatusCause[] = []
  owners.forEach((owner, index) => {
    const path = `metadata.ownerReferences[${index}]`
    if (versionOf(owner) === '')
      causes.push(invalidValue(`${path}.apiVersion`, owner.apiVersion, 'version must not be empty'))
    if (owner.kind === '') causes.push(invalidValue(`${path}.kind`, '', 'must not be empty'))
    if (owner.name === '') causes.push(requiredValue(`${path}.name`, 'must not be empty'))
    if (owner.uid === '') causes.push(requiredValue(`${path}.uid`, 'must not be empty'))
  })
  const controllers = owners.filter((owner) => owner.controller === true).map((owner) => String(owner.name))
  if (controllers.length > 1) {
    causes.push(
      invalidValue(
        'metadata.ownerReferences',
        owners,
        `Only one reference can have Controller set to true. Found "true" in references for ${controllers.slice(0, 2).join(' and ')}`,
      ),
    )
  }
  return causes
}

function versionOf(owner: JsonObject): string {
  const apiVersion = String(owner.apiVersion)
  return apiVersion.slice(apiVersion.indexOf('/') + 1)
}

/** A generateName is the beginning of a name: a dash at its end will not be the end. */
function withoutTrailingDash(text: string): string {
  return text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text
}

/** Bytes of a text in UTF-8, counted without encoding it: the language alone has no encoder. */
export function utf8Length(text: string): number {
  let bytes = 0
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) bytes += 1
    // Each half of a surrogate pair counts two: together the four bytes of its character.
    else if (unit < 0x800 || (unit >= 0xd800 && unit < 0xe000)) bytes += 2
    else bytes += 3
  }
  return bytes
}
