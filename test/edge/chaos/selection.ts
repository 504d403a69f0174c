export type Labels = Record<string, string>

/** What a reader asks for, and the same as a function that knows nothing of the product. */
export interface Selection {
  namespace: string | undefined
  query: string
  matches(labels: Labels): boolean
}

const everything = () => true

export const selections: readonly Selection[] = [
  { namespace: undefined, query: '', matches: everything },
  { namespace: 'one', query: '', matches: everything },
  { namespace: undefined, query: 'labelSelector=color%3Dred', matches: ({ color }) => color === 'red' },
  { namespace: 'two', query: 'labelSelector=color+notin+(red)', matches: ({ color }) => color !== 'red' },
]

export function selects({ namespace, matches }: Selection, object: { namespace: string; labels: Labels }): boolean {
  return (namespace === undefined || namespace === object.namespace) && matches(object.labels)
}
