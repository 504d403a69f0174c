import { goQuote } from '../core/go-format.ts'
import { jsonEqual } from '../core/json-equal.ts'
import type { ApiObject, JsonObject } from '../core/object.ts'
import { asDefinition, type Definition, type DefinitionCondition, type DefinitionNames } from './definition.ts'

/**
 * The status that a definition has to have, given all the other definitions (R01, R03, R04): which of its names it has
 * got, and whether it is served. Gives the object itself if its status is right already. `now`: milliseconds since 1970.
 *
 * It depends on what the others have got, so whenever a definition changes or goes, those of its group are due again.
 */
export function definitionStatus(object: ApiObject, others: Iterable<ApiObject>, now: number): ApiObject {
  const definition = asDefinition(object)
  const { accepted, fault } = acceptNames(definition, takenNames(definition, others))
  const old = definition.status?.conditions ?? []
  const namesAccepted: NewCondition =
    fault === undefined
      ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { type: 'NamesAccepted', status: 'False', ...fault }
  const changes = [namesAccepted]
  // Once it is served it stays so, whatever becomes of its names.
  if (!old.some((each) => each.type === 'Established' && each.status === 'True')) {
    changes.push(
      fault === undefined
        ? {
            type: 'Established',
            status: 'True',
            reason: 'InitialNamesAccepted',
            message: 'the initial names have been accepted',
          }
        : { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    )
  }
  if (definition.metadata.deletionTimestamp !== undefined) {
    changes.push({
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionInProgress',
      message: 'CustomResource deletion is in progress',
    })
  }
  const status = {
    ...definition.status,
    conditions: changes.reduce((conditions, change) => withCondition(conditions, change, now), old),
    acceptedNames: accepted,
  } as unknown as JsonObject
  return jsonEqual(status, object.status) ? object : { ...object, status }
}

type NewCondition = Omit<DefinitionCondition, 'lastTransitionTime'>

function withCondition(conditions: DefinitionCondition[], change: NewCondition, now: number): DefinitionCondition[] {
  const old = conditions.find((each) => each.type === change.type)
  const lastTransitionTime =
    old?.status === change.status ? old.lastTransitionTime : new Date(now).toISOString().replace(/\.\d+Z$/, 'Z')
  const { type, status, reason, message } = change
  const condition = { type, status, lastTransitionTime, reason, message }
  return old === undefined
    ? [...conditions, condition]
    : conditions.map((each) => (each.type === type ? condition : each))
}

interface TakenNames {
  resources: ReadonlySet<string>
  kinds: ReadonlySet<string>
}

/** The names in the group that others have got. What is only asked for is not taken. */
function takenNames(definition: Definition, others: Iterable<ApiObject>): TakenNames {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const object of others) {
    const other = asDefinition(object)
    if (other.spec.group !== definition.spec.group || other.metadata.name === definition.metadata.name) continue
    const names = other.status?.acceptedNames
    if (names === undefined) continue
    for (const name of [names.plural, names.singular, ...(names.shortNames ?? [])]) if (name) resources.add(name)
    for (const name of [names.kind, names.listKind]) if (name) kinds.add(name)
  }
  return { resources, kinds }
}

function acceptNames(
  definition: Definition,
  taken: TakenNames,
): { accepted: DefinitionNames; fault: { reason: string; message: string } | undefined } {
  const asked = definition.spec.names
  const has = definition.status?.acceptedNames ?? { plural: '', kind: '' }
  const accepted: DefinitionNames = { ...has }
  // The last conflict is the one that is told, as in Kubernetes.
  let fault: { reason: string; message: string } | undefined
  const take = (key: 'plural' | 'singular' | 'kind' | 'listKind', used: ReadonlySet<string>, reason: string) => {
    const name = asked[key]
    if (name === undefined || (name !== has[key] && used.has(name))) {
      fault = { reason, message: `${goQuote(name ?? '')} is already in use` }
    } else {
      accepted[key] = name
    }
  }
  take('plural', taken.resources, 'PluralConflict')
  take('singular', taken.resources, 'SingularConflict')
  const shortNames = asked.shortNames ?? []
  const conflicts = shortNames.filter((name) => !has.shortNames?.includes(name) && taken.resources.has(name))
  if (conflicts.length > 0) {
    const messages = conflicts.map((name) => `${goQuote(name)} is already in use`)
    fault = {
      reason: 'ShortNamesConflict',
      message: messages.length === 1 ? String(messages[0]) : `[${messages.join(', ')}]`,
    }
  } else {
    accepted.shortNames = asked.shortNames
  }
  take('kind', taken.kinds, 'KindConflict')
  take('listKind', taken.kinds, 'ListKindConflict')
  accepted.categories = asked.categories
  return { accepted: withoutUndefined(accepted), fault }
}

function withoutUndefined(names: DefinitionNames): DefinitionNames {
  return Object.fromEntries(
    Object.entries(names).filter(([, value]) => value !== undefined),
  ) as unknown as DefinitionNames
}
