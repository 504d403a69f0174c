import { goQuote } from '../../../core/go-format.ts'
import {
  labelNameProblems,
  labelValueProblems,
  qualifiedNameProblems,
  subdomainProblems,
} from '../../../core/write/name-rules.ts'
import { stringFormat } from '../../formats.ts'
import { dns1035LabelFault } from '../../names.ts'
import { parseUri } from '../../uri.ts'
import { ArrayList, NONE, noSuchOverload, type OpaqueValue, OptionalValue, type Value } from '../values.ts'
import type { FunctionLibrary } from './overload.ts'

/** Named formats (apiserver pkg/cel/library/format.go). */
export class NamedFormat implements OpaqueValue {
  readonly opaque = true
  readonly typeName = 'kubernetes.NamedFormat'
  readonly name: string
  /** Length of the expression that it stands for: what its costs go by. */
  readonly expressionLength: number
  readonly problemsOf: (text: string) => string[]

  constructor(name: string, expressionLength: number, problemsOf: (text: string) => string[]) {
    this.name = name
    this.expressionLength = expressionLength
    this.problemsOf = problemsOf
  }

  equals(other: Value) {
    return other instanceof NamedFormat ? this.name === other.name : noSuchOverload()
  }
}

const prefixOf = (text: string): string => (text.length > 1 && text.endsWith('-') ? `${text.slice(0, -2)}a` : text)

function dns1035Problems(text: string): string[] {
  const fault = dns1035LabelFault(text)
  return fault === undefined ? [] : [fault]
}

function uriProblems(text: string): string[] {
  const uri = parseUri(text)
  return typeof uri === 'string' ? [`parse ${goQuote(text)}: ${uri}`] : []
}

const unless = (format: string, problem: string) => (text: string) =>
  stringFormat(format)?.(text) === true ? [] : [problem]

const FORMATS: ReadonlyMap<string, NamedFormat> = new Map(
  (
    [
      ['dns1123Label', 'DNS1123Label', 30, labelNameProblems],
      ['dns1123Subdomain', 'DNS1123Subdomain', 60, subdomainProblems],
      ['dns1035Label', 'DNS1035Label', 30, dns1035Problems],
      ['qualifiedName', 'QualifiedName', 60, qualifiedNameProblems],
      ['dns1123LabelPrefix', 'DNS1123LabelPrefix', 30, (text) => labelNameProblems(prefixOf(text))],
      ['dns1123SubdomainPrefix', 'DNS1123SubdomainPrefix', 60, (text) => subdomainProblems(prefixOf(text))],
      ['dns1035LabelPrefix', 'DNS1035LabelPrefix', 30, (text) => dns1035Problems(prefixOf(text))],
      ['labelValue', 'LabelValue', 40, labelValueProblems],
      ['uri', 'URI', 1103, uriProblems],
      ['uuid', 'uuid', 77, unless('uuid', 'does not match the UUID format')],
      ['byte', 'byte', 84, unless('byte', 'invalid base64')],
      ['date', 'date', 77, unless('date', 'invalid date')],
      ['datetime', 'datetime', 77, unless('datetime', 'invalid datetime')],
    ] satisfies [string, string, number, (text: string) => string[]][]
  ).map(([key, ...format]) => [key, new NamedFormat(...format)]),
)

export const FORMAT_FUNCTIONS: FunctionLibrary = {
  validate: {
    'format-validate': [
      'format.(string) -> optional(list(string))',
      (meter, format: NamedFormat, text: string) => {
        meter.work(text.length / 10)
        const problems = format.problemsOf(text)
        return problems.length === 0 ? NONE : new OptionalValue(new ArrayList(problems))
      },
    ],
  },
  'format.named': {
    'format-named': [
      '(string) -> optional(format)',
      (_meter, name: string) => {
        const format = FORMATS.get(name)
        return format === undefined ? NONE : new OptionalValue(format)
      },
    ],
  },
  ...Object.fromEntries(
    [...FORMATS].map(([name, format]) => [
      `format.${name}`,
      { [`format.${name}`]: ['() -> format', () => format] as const },
    ]),
  ),
}
