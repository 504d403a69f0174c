import { describe, expect, test } from 'vitest'
import { parseObjectBody, readRequestBody } from '../../src/http/request-body.ts'

const json = (text: string) => parseObjectBody({ mediaType: 'application/json', text }, 'the body')
const yaml = (text: string) => parseObjectBody({ mediaType: 'application/yaml', text }, 'the body')

function post(body: string | ReadableStream, contentType = 'application/json'): Request {
  const init = { method: 'POST', body, headers: { 'content-type': contentType }, duplex: 'half' }
  return new Request('http://localhost/', init as RequestInit)
}

describe('reading', () => {
  test('takes a body up to the bound, and not a byte more', async () => {
    expect(await readRequestBody(post('é'.repeat(5), 'Application/JSON; charset=utf-8'), { maxBytes: 10 })).toEqual({
      text: 'ééééé',
      mediaType: 'application/json',
    })
    await expect(readRequestBody(post('x'.repeat(11)), { maxBytes: 10 })).rejects.toThrow(
      'Request entity too large: limit is 10',
    )
  })

  test('refuses by the length that is announced, and by what comes though less was announced', async () => {
    const body = (length: string) =>
      new Request('http://localhost/', { method: 'POST', body: 'x'.repeat(11), headers: { 'content-length': length } })
    for (const length of ['11', '3']) {
      await expect(readRequestBody(body(length), { maxBytes: 10 })).rejects.toThrow('Request entity too large')
    }
    expect((await readRequestBody(body('11'), { maxBytes: 11 })).text).toBe('x'.repeat(11))
  })

  test('stops at the bound though no length was announced', async () => {
    let pulled = 0
    const endless = new ReadableStream({
      pull(controller) {
        pulled += 1
        controller.enqueue(new Uint8Array(4))
      },
    })
    await expect(readRequestBody(post(endless), { maxBytes: 10 })).rejects.toThrow('Request entity too large')
    expect(pulled).toBeLessThan(10)
  })

  test('no body is an empty text', async () => {
    expect((await readRequestBody(new Request('http://localhost/'), { maxBytes: 10 })).text).toBe('')
  })
})

describe('JSON', () => {
  test('keeps whole numbers beyond 2^53, and tells keys that stand twice', () => {
    const { value, duplicates } = json('{"spec":{"f":1,"f":9007199254740993,"l":[{"a":1,"a":2}]},"a":1}')
    expect(value).toEqual({ spec: { f: 9007199254740993n, l: [{ a: 2 }] }, a: 1 })
    expect(duplicates).toEqual(['spec.f', 'spec.l[0].a'])
    expect(json('{"f":9007199254740994}').value).toEqual({ f: 9007199254740994n })
  })

  test.each([
    ['nothing', ''],
    ['half an object', '{'],
    ['words', 'not json'],
    ['a comma too many', '{"a":1,}'],
    ['a comment', '{"a":1} // x'],
    ['endless lists', '['.repeat(100_000)],
    ['lists 501 deep', `${'['.repeat(501)}${']'.repeat(501)}`],
  ])('a bad request: %s', (_name, text) => {
    expect(() => json(text)).toThrow(expect.objectContaining({ reason: 'BadRequest' }))
  })

  test('is what a body without a content type is', () => {
    expect(parseObjectBody({ mediaType: '', text: '{}' }, 'the body').value).toEqual({})
  })

  test('another content type is not supported', () => {
    expect(() => parseObjectBody({ mediaType: 'text/plain', text: '{}' }, 'the body')).toThrow(
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
    )
  })
})

describe('YAML', () => {
  test('is read as the JSON that it stands for', () => {
    const { value, duplicates } = yaml(
      'a: &x {f: 1, f: 2}\nb: *x\nn: 9007199254740993\nd: 2001-01-01\ny: yes\nt: true\n5: k\n',
    )
    expect(value).toEqual({
      a: { f: 2 },
      b: { f: 2 },
      n: 9007199254740993n,
      d: '2001-01-01',
      y: 'yes',
      t: true,
      '5': 'k',
    })
    expect(duplicates).toEqual(['a.f'])
  })

  test('that is JSON is read as fast as that, and tells of keys that stand twice', () => {
    const list = Array.from({ length: 200_000 }, (_, index) => index)
    const begun = performance.now()
    const { value, duplicates } = yaml(JSON.stringify({ list }).replace('{', '\n {"a":1,"a":2,'))
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(value).toEqual({ a: 2, list })
    expect(duplicates).toEqual(['a'])
    expect(yaml('{a: 1}').value).toEqual({ a: 1 })
  })

  test('of more than half a megabyte is refused before it is parsed', () => {
    const begun = performance.now()
    expect(() => yaml(`a: "${'x\n \n'.repeat(200_000)}"`)).toThrow(
      expect.objectContaining({ reason: 'RequestEntityTooLarge', message: expect.stringContaining('524288 for YAML') }),
    )
    expect(performance.now() - begun).toBeLessThan(2_000)
  })

  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x]',
    'b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]',
    'c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]',
    'd: [*c,*c]',
  ].join('\n')
  test.each([
    ['broken', 'a: ['],
    ['two documents', 'a: 1\n---\nb: 2\n'],
    ['an unknown alias', 'a: *x'],
    ['too many aliases', bomb],
    ['too deep', `a: ${'['.repeat(600)}${']'.repeat(600)}`],
    ['a number that JSON does not know', 'a: .inf'],
  ])('a bad request: %s', (_name, text) => {
    expect(() => yaml(text)).toThrow(expect.objectContaining({ reason: 'BadRequest' }))
  })
})
