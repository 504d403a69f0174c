/**
 * What names, labels and their values may look like, with the words of Kubernetes
 * (apimachinery pkg/util/validation/validation.go). Each function gives what is wrong, nothing if all is well.
 * `$` without the flag m matches at the very end only, so a line break behind a good name is no good name.
 */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const LABEL_VALUE = `(${QUALIFIED_NAME})?`

const labelPattern = new RegExp(`^${LABEL}$`)
const subdomainPattern = new RegExp(`^${SUBDOMAIN}$`)
const qualifiedNamePattern = new RegExp(`^${QUALIFIED_NAME}$`)
const labelValuePattern = new RegExp(`^${LABEL_VALUE}$`)

const MAX_LABEL = 63
const MAX_SUBDOMAIN = 253

const QUALIFIED_NAME_PROBLEM = `must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`
const QUALIFIED_NAME_EXAMPLES = ['MyName', 'my.name', '123-abc']

/** Names of objects. */
export function subdomainProblems(text: string): string[] {
  const problems = tooLong(text, MAX_SUBDOMAIN)
  // The expression backtracks over long texts, and one reason is enough for them.
  if (problems.length === 0 && !subdomainPattern.test(text)) {
    problems.push(
      mismatch(
        `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character`,
        SUBDOMAIN,
        ['example.com'],
      ),
    )
  }
  return problems
}

/** Names of namespaces. */
export function labelNameProblems(text: string): string[] {
  const problems = tooLong(text, MAX_LABEL)
  if (!labelPattern.test(text)) {
    problems.push(
      mismatch(
        `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character`,
        LABEL,
        ['my-name', '123-abc'],
      ),
    )
  }
  return problems
}

/** Keys of labels and annotations, names of finalizers: `name` or `prefix/name`. */
export function qualifiedNameProblems(text: string): string[] {
  const parts = text.split('/')
  const problems: string[] = []
  if (parts.length > 2) {
    const what = mismatch(`a valid label key ${QUALIFIED_NAME_PROBLEM}`, QUALIFIED_NAME, QUALIFIED_NAME_EXAMPLES)
    return [`${what} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`]
  }
  const [first = '', second] = parts
  const name = second ?? first
  if (second !== undefined) {
    if (first === '') problems.push('prefix part must be non-empty')
    else problems.push(...subdomainProblems(first).map((problem) => `prefix part ${problem}`))
  }
  if (name === '') problems.push('name part must be non-empty')
  else if (name.length > MAX_LABEL) problems.push(`name part must be no more than ${MAX_LABEL} bytes`)
  if (!qualifiedNamePattern.test(name)) {
    problems.push(`name part ${mismatch(QUALIFIED_NAME_PROBLEM, QUALIFIED_NAME, QUALIFIED_NAME_EXAMPLES)}`)
  }
  return problems
}

export function labelValueProblems(text: string): string[] {
  const problems = text.length > MAX_LABEL ? [`must be no more than ${MAX_LABEL} bytes`] : []
  if (!labelValuePattern.test(text)) {
    problems.push(
      mismatch(
        `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
        LABEL_VALUE,
        ['MyValue', 'my_value', '12345'],
      ),
    )
  }
  return problems
}

function tooLong(text: string, max: number): string[] {
  return text.length > max ? [`must be no more than ${max} characters`] : []
}

function mismatch(problem: string, pattern: string, examples: string[]): string {
  const list = examples.map((example) => `'${example}', `).join(' or ')
  return `${problem} (e.g. ${list}regex used for validation is '${pattern}')`
}
