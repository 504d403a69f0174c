import { expect, test } from 'vitest'
import { humanDuration } from '../../../src/resources/human-duration.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

// The rows of apimachinery pkg/util/duration/duration_test.go.
test.each([
  [-3 * SECOND, '<invalid>'],
  [-1 * SECOND, '0s'],
  [0, '0s'],
  [SECOND - 1, '0s'],
  [119 * SECOND, '119s'],
  [2 * MINUTE, '2m'],
  [2 * MINUTE + 1 * SECOND, '2m1s'],
  [10 * MINUTE - SECOND, '9m59s'],
  [10 * MINUTE, '10m'],
  [3 * HOUR - SECOND, '179m'],
  [3 * HOUR, '3h'],
  [3 * HOUR + MINUTE, '3h1m'],
  [8 * HOUR - SECOND, '7h59m'],
  [8 * HOUR, '8h'],
  [2 * DAY - SECOND, '47h'],
  [2 * DAY, '2d'],
  [2 * DAY + HOUR, '2d1h'],
  [8 * DAY - SECOND, '7d23h'],
  [8 * DAY, '8d'],
  [2 * 365 * DAY - SECOND, '729d'],
  [2 * 365 * DAY, '2y'],
  [2 * 365 * DAY + DAY, '2y1d'],
  [8 * 365 * DAY - SECOND, '7y364d'],
  [8 * 365 * DAY, '8y'],
])('%d ms is %s', (spanMs, text) => {
  expect(humanDuration(spanMs)).toBe(text)
})
