import { expect, test } from 'vitest'
import { shardOf } from '../../../src/runtimes/cloudflare/shard.ts'

test.each([
  ['/apis/g.example.com/v1/things', 'things.g.example.com', 'cluster'],
  ['/apis/g.example.com/v1/things/a', 'things.g.example.com', 'cluster'],
  ['/apis/g.example.com/v1/namespaces/ns/things', 'things.g.example.com', 'namespace:ns'],
  ['/apis/g.example.com/v1/namespaces/ns/things/a/status', 'things.g.example.com', 'namespace:ns'],
  ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'definitions', 'definitions'],
  ['/api/v1/namespaces/ns', 'definitions', 'definitions'],
  ['/openapi/v2', 'definitions', 'definitions'],
])('%s is answered by %s, or by %s', (path, byResource, byNamespace) => {
  expect(shardOf(path, 'resource')).toBe(byResource)
  expect(shardOf(path, 'namespace')).toBe(byNamespace)
  expect(shardOf(path, 'none')).toBe('definitions')
})

test.each([
  ['/apis/g.example.com/v1/namespaces/%00/things%00', 'a zero byte'],
  ['/apis/g.example.com/v1/namespaces/a%2Fb/things%2Fa', 'a slash'],
  ['/apis/g.example.com/v1/namespaces/A/Things', 'a capital'],
  [`/apis/g.example.com/v1/namespaces/${'n'.repeat(64)}/${'k'.repeat(254)}`, 'too many characters'],
  ['/apis/g.example.com/v1/namespaces/%ff/%ff', 'bytes that are no text'],
])('%s wakes no object: %s', (path) => {
  expect(shardOf(path, 'resource')).toBe('definitions')
  expect(shardOf(path, 'namespace')).toBe('definitions')
})
