import type { Reporter, TestModule } from 'vitest/node'

/** Ends a run with the line that says in plain words how it went, for whoever reads only that. */
export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1
      // A file that fails before its tests run.
      counts.failed += module.errors().length
    }
    const unfinished = counts.failed + counts.pending
    process.stdout.write(`\n${counts.passed} passed, ${unfinished} failed, ${counts.skipped} skipped\n`)
  }
}
