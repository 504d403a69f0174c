/** What this runtime uses of the Workers API, and no more. */
declare module 'cloudflare:workers' {
  export abstract class DurableObject<Env> {
    protected ctx: DurableObjectState
    protected env: Env
    constructor(ctx: DurableObjectState, env: Env)
  }

  export interface DurableObjectState {
    /** `name` is set for objects that were found by their name. */
    readonly id: { readonly name?: string }
    readonly storage: DurableObjectStorage
    /** Makes it a socket that outlives the memory of the object: it may hibernate while the socket is open. */
    acceptWebSocket(socket: WebSocket): void
    /** All that were accepted and are open, also before the object hibernated. */
    getWebSockets(): WebSocket[]
    /** Throws away the object: its memory and its streams, not its storage. */
    abort(reason: string): void
  }

  export interface DurableObjectStorage {
    sql: {
      exec(statement: string, ...bindings: (string | number | null)[]): { toArray(): Record<string, unknown>[] }
    }
    transactionSync<T>(run: () => T): T
    sync(): Promise<void>
    put(key: string, value: string): Promise<void>
    delete(key: string): Promise<boolean>
    list(options: { prefix: string }): Promise<Map<string, string>>
    /** Calls `alarm` of the object at a time, also when it has lost its memory until then. One for each object. */
    setAlarm(timeMs: number): Promise<void>
  }

  /** Of one request. */
  export interface ExecutionContext {
    /** The request is not over before it is settled, though it may be answered. */
    waitUntil(promise: Promise<unknown>): void
  }

  export interface DurableObjectNamespace<Methods> {
    getByName(name: string): Methods & { fetch(request: Request): Promise<Response> }
  }
}

declare var WebSocketPair: new () => { 0: WebSocket; 1: WebSocket }

interface WebSocket {
  /** Of an end that came with an answer: begins to give its messages. */
  accept(): void
}

interface Response {
  /** Of an answer of 101. */
  readonly webSocket?: WebSocket | null
}

interface ResponseInit {
  webSocket?: WebSocket
}
