import { CONVERSIONS } from './conversions.ts'
import { FORMAT_FUNCTIONS } from './formats.ts'
import { LIST_FUNCTIONS } from './lists.ts'
import { NETWORK_FUNCTIONS } from './network.ts'
import { OPERATORS } from './operators.ts'
import { OPTIONAL_FUNCTIONS } from './optionals.ts'
import { type Overload, overloadsOf } from './overload.ts'
import { QUANTITY_FUNCTIONS } from './quantity.ts'
import { SEMVER_FUNCTIONS } from './semver.ts'
import { STRING_FUNCTIONS } from './strings.ts'
import { TIME_FUNCTIONS } from './time.ts'

/** All functions that rules may call, by their names: those of Kubernetes 1.36 (apiserver pkg/cel/environment/base.go). */
export const FUNCTIONS: ReadonlyMap<string, readonly Overload[]> = allFunctions()

function allFunctions(): Map<string, Overload[]> {
  const functions = new Map<string, Overload[]>()
  for (const library of [
    OPERATORS,
    CONVERSIONS,
    STRING_FUNCTIONS,
    TIME_FUNCTIONS,
    NETWORK_FUNCTIONS,
    LIST_FUNCTIONS,
    OPTIONAL_FUNCTIONS,
    QUANTITY_FUNCTIONS,
    FORMAT_FUNCTIONS,
    SEMVER_FUNCTIONS,
  ]) {
    for (const [name, overloads] of overloadsOf(library)) {
      functions.set(name, [...(functions.get(name) ?? []), ...overloads])
    }
  }
  return functions
}
