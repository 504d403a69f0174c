/** Names of Kubernetes, and its words about wrong ones (apimachinery pkg/util/validation). */

const DNS1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?'
const DNS1123_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const DNS1123_SUBDOMAIN = `${DNS1123_LABEL}(\\.${DNS1123_LABEL})*`

/** What is wrong with a label that begins with a letter; undefined if nothing is. */
export function dns1035LabelFault(text: string): string | undefined {
  return faultOf(text, {
    maxLength: 63,
    expression: DNS1035_LABEL,
    words:
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    examples: ['my-name', 'abc-123'],
  })
}

/** What is wrong with a domain; undefined if nothing is. */
export function dns1123SubdomainFault(text: string): string | undefined {
  return faultOf(text, {
    maxLength: 253,
    expression: DNS1123_SUBDOMAIN,
    words:
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    examples: ['example.com'],
  })
}

function faultOf(
  text: string,
  rule: { maxLength: number; expression: string; words: string; examples: readonly string[] },
): string | undefined {
  // The expression backtracks over long texts, and one reason is enough for them.
  if (text.length > rule.maxLength) return `must be no more than ${rule.maxLength} characters`
  if (new RegExp(`^${rule.expression}$`).test(text)) return undefined
  const examples = rule.examples.map((example) => `'${example}'`).join(',  or ')
  return `${rule.words} (e.g. ${examples}, regex used for validation is '${rule.expression}')`
}
