/** The part of URLSearchParams that is read here. */
export interface QueryParameters {
  get(name: string): string | null
  getAll(name: string): string[]
  has(name: string): boolean
}

/** Is a flag of the query set? Anything but `false` and `0` is true, `?watch` and `?watch=` too. */
export function queryFlag(query: QueryParameters, name: string): boolean {
  const value = query.get(name)
  return value !== null && value.toLowerCase() !== 'false' && value !== '0'
}
