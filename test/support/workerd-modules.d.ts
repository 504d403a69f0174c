/** What the tests that run inside workerd use of its test module, and no more. */
declare module 'cloudflare:test' {
  import type { DurableObjectState } from 'cloudflare:workers'

  export function runInDurableObject<Result>(
    stub: unknown,
    run: (instance: never, state: DurableObjectState) => Result | Promise<Result>,
  ): Promise<Result>
  export function evictDurableObject(stub: unknown): Promise<void>
}

declare module 'cloudflare:workers' {
  export const env: import('../../src/runtimes/cloudflare/env.ts').Env
  export const exports: { default: { fetch(url: string, init?: RequestInit): Promise<Response> } }
}
