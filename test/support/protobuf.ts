/** Writes protobuf by hand, for bodies as Go clients send them. A value: text, bytes (a message), or a whole number. */
export function protobuf(...fields: [number: number, value: string | Uint8Array | number][]): Uint8Array<ArrayBuffer> {
  const bytes: number[] = []
  for (const [number, value] of fields) {
    if (typeof value === 'number') {
      bytes.push(...varint(number * 8), ...varint(value))
      continue
    }
    const content = typeof value === 'string' ? new TextEncoder().encode(value) : value
    bytes.push(...varint(number * 8 + 2), ...varint(content.byteLength), ...content)
  }
  return new Uint8Array(bytes)
}

/** A body of Kubernetes: its mark, and runtime.Unknown around the object. */
export function kubernetesProtobuf(apiVersion: string, kind: string, object: Uint8Array): Uint8Array<ArrayBuffer> {
  const envelope = protobuf([1, protobuf([1, apiVersion], [2, kind])], [2, object], [3, ''], [4, ''])
  return new Uint8Array([0x6b, 0x38, 0x73, 0x00, ...envelope])
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))]
}
