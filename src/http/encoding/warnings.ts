/** Characters of all warnings of one answer, about: clients refuse answers with larger heads. As Kubernetes has it. */
const MAX_CHARACTERS = 4_096
/** Characters of each, where all of them together are too long. */
const MAX_SHORTENED = 256

/**
 * The Warning header of an answer (RFC 9111 has dropped it, Kubernetes and kubectl use it): `299 - "…"` for each text, quoted
 * as a header needs it. Of too many, those that fit.
 */
export function warningHeaders(texts: readonly string[]): { warning?: string } {
  if (texts.length === 0) return {}
  const quoted = fitting([...new Set(texts)]).map(
    (text) => `299 - "${text.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`,
  )
  return { warning: quoted.join(', ') }
}

/** As the real server counts: at the first text that is too much all before are shortened, and shorter ones may follow. */
function fitting(texts: readonly string[]): readonly string[] {
  let written = 0
  const excess = texts.findIndex((text) => {
    written += text.length
    return written > MAX_CHARACTERS
  })
  if (excess === -1) return texts
  const kept = texts.slice(0, excess + 1).map((text) => text.slice(0, MAX_SHORTENED))
  written = kept.join('').length
  for (const text of texts.slice(excess + 1)) {
    if (written + text.length > MAX_CHARACTERS) continue
    kept.push(text)
    written += text.length
  }
  return kept
}
