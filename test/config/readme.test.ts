import { expect, it } from 'vitest'
import { readmeWithTable } from '../support/readme-table.ts'

it('the table of options in the README is fresh (npm run bundle makes it anew)', () => {
  const { found, expected } = readmeWithTable()
  expect(found).toBe(expected)
})
