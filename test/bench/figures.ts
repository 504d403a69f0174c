/** Milliseconds at a share (0–1) of sorted samples. */
export function percentile(samples: readonly number[], share: number): number {
  if (samples.length === 0) return Number.NaN
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5)
}

/** Prints rows as aligned columns under a title. */
export function printTable(title: string, rows: readonly Record<string, string | number>[]): void {
  const columns = Object.keys(rows[0] ?? {})
  const text = (value: string | number | undefined) =>
    typeof value === 'number' ? (value >= 100 ? value.toFixed(0) : value.toFixed(2)) : (value ?? '')
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => text(row[column]).length)))
  const line = (cells: string[]) => cells.map((cell, index) => cell.padStart(widths[index] as number)).join('  ')
  console.log(`\n${title}\n${line(columns)}`)
  for (const row of rows) console.log(line(columns.map((column) => text(row[column]))))
}

/** A clock that all processes of this machine share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}
