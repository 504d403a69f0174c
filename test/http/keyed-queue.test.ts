import { expect, test } from 'vitest'
import { KeyedQueue } from '../../src/http/keyed-queue.ts'

test('tasks of one key run one after the other, those of another key meanwhile; a failure holds up nobody', async () => {
  const queue = new KeyedQueue({ capacity: 10 })
  const ran: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = queue.run('a', async () => {
    await gate.promise
    ran.push('a1')
    throw new Error('the first fails')
  })
  const second = queue.run('a', async () => ran.push('a2'))
  await queue.run('b', async () => ran.push('b'))
  gate.resolve()
  await expect(first).rejects.toThrow('the first fails')
  await second
  expect(ran).toEqual(['b', 'a1', 'a2'])
})

test('a line has a bound, and room again when it has run', async () => {
  const queue = new KeyedQueue({ capacity: 2 })
  const gate = Promise.withResolvers<void>()
  const waiting = [queue.run('a', () => gate.promise), queue.run('a', async () => {})]
  await expect(queue.run('a', async () => {})).rejects.toMatchObject({ reason: 'TooManyRequests' })
  gate.resolve()
  await Promise.all(waiting)
  await expect(queue.run('a', async () => 'done')).resolves.toBe('done')
})
