import type { Predicate } from '../../src/core/selection/predicate.ts'

/** Everything of a resource, or of one namespace. */
export function everything(namespace?: string): Predicate {
  return {
    key: namespace ?? '*',
    ...(namespace === undefined ? {} : { namespace }),
    selectsAll: true,
    covers: (key) => namespace === undefined || key.namespace === namespace,
    matches: () => true,
  }
}

/** Objects whose label has a value. */
export function labelled(label: string, value: string): Predicate {
  return {
    key: `${label}=${value}`,
    selectsAll: false,
    covers: () => true,
    matches: (_key, object) => object.metadata.labels?.[label] === value,
  }
}
