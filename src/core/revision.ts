/**
 * A revision is the place of a change in the one total order of all changes; on the wire it is the decimal string
 * `resourceVersion`. This file is the only one that knows the text form.
 */
export type Revision = bigint

/** Before every change. Never shown to a client: a resourceVersion of "0" means "any". */
export const NO_REVISION: Revision = 0n

/** Larger than any revision: Kubernetes clients parse an unsigned 64-bit integer, Postgres holds a signed one. */
const MAX_REVISION = 2n ** 63n - 1n

export function formatRevision(revision: Revision): string {
  return revision.toString()
}

/** The revision that a resourceVersion names, or undefined if the text is not a decimal number in range. */
export function parseRevision(text: string): Revision | undefined {
  if (!/^[0-9]{1,19}$/.test(text)) return undefined
  const revision = BigInt(text)
  return revision <= MAX_REVISION ? revision : undefined
}

/** The later of two revisions. */
export function laterRevision(a: Revision, b: Revision): Revision {
  return a > b ? a : b
}
