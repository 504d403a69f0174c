import { describe, expect, test } from 'vitest'
import type { ApiObject } from '../../../src/core/object.ts'
import { StoredObject, typePrefix } from '../../../src/core/stored-object.ts'

const type = { apiVersion: 'music.example.dev/v1', kind: 'Playlist' }

describe('StoredObject', () => {
  const object: ApiObject = {
    ...type,
    metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '7', labels: { x: '1' } },
    spec: { title: 'T', tracks: [1, 2] },
  }

  test('its text leaves out what its row and its definition say', () => {
    expect(StoredObject.of(object).text).toBe(
      '{"metadata":{"name":"a","namespace":"ns","uid":"u","labels":{"x":"1"}},"spec":{"title":"T","tracks":[1,2]}}',
    )
  })

  test('rendered it is the object at a revision, in the version that is asked for', () => {
    const rendered = StoredObject.of(object).render(typePrefix({ ...type, apiVersion: 'music.example.dev/v2' }), 8n)
    expect(JSON.parse(rendered)).toEqual({
      ...object,
      apiVersion: 'music.example.dev/v2',
      metadata: { ...object.metadata, resourceVersion: '8' },
    })
  })

  test('without any metadata it is rendered whole, too', () => {
    const rendered = StoredObject.of({ ...type, metadata: {} }).render(typePrefix(type), 8n)
    expect(JSON.parse(rendered)).toEqual({ ...type, metadata: { resourceVersion: '8' } })
  })

  test('toObject gives a copy that can be changed', () => {
    const stored = StoredObject.of(object)
    const copy = stored.toObject(type, 7n)
    expect(copy).toEqual(object)
    copy.metadata.name = 'changed'
    expect(stored.metadata.name).toBe('a')
  })

  test('a text that does not begin with its metadata is refused', () => {
    expect(() => new StoredObject('{"spec":{}}')).toThrow(TypeError)
  })
})
