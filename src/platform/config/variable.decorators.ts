import { Transform } from 'class-transformer';
import {
  buildMessage,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  Max,
  Min,
  ValidateBy,
  getMetadataStorage,
} from 'class-validator';
import { existsSync } from 'node:fs';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { availableParallelism } from 'node:os';
import {
  isUrl,
  readNetworks,
  readOrigins,
  readPairs,
  readPricedAs,
  isOperatorKey,
  OPERATOR_KEY_RULES,
} from './setting-values.js';
import { findViolations } from './config-error.js';

const descriptions = new WeakMap<object, Map<string, Description>>();

const MAX_WORKERS = 256;

/** An optional integer in digits. */
export function IntegerVariable(min: number, max: number): PropertyDecorator {
  const message = `must be an integer from ${min} to ${max}`;
  return all(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value,
    ),
    IsOptional(),
    IsInt({ message }),
    Min(min, { message }),
    Max(max, { message }),
  );
}

/** A share from 0 to 1. */
export function ShareVariable(): PropertyDecorator {
  const message = 'must be a number from 0 to 1';
  return all(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' && /^\d*\.?\d+$/.test(value) ? Number(value) : value,
    ),
    IsOptional(),
    IsNumber({}, { message }),
    Min(0, { message }),
    Max(1, { message }),
  );
}

/** A number of processes, or `auto` for one per core. */
export function WorkersVariable(): PropertyDecorator {
  return all(
    // class-transformer runs the last one first.
    IntegerVariable(1, MAX_WORKERS),
    Transform(({ value }: { value: unknown }) =>
      value === 'auto' ? String(Math.min(availableParallelism(), MAX_WORKERS)) : value,
    ),
  );
}

/** One of several words. */
export function ChoiceVariable(...choices: string[]): PropertyDecorator {
  return all(IsOptional(), IsIn(choices, { message: `must be ${choices.join(' or ')}` }));
}

/** One of several words in either case. */
export function WordVariable(...choices: string[]): PropertyDecorator {
  return all(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? value.toLowerCase() : value,
    ),
    ChoiceVariable(...choices),
  );
}

/** `true` or `false` in either case. */
export function FlagVariable(): PropertyDecorator {
  return WordVariable('true', 'false');
}

/** A URL with one of the schemes, given without a colon. */
export function UrlVariable(...schemes: string[]): PropertyDecorator {
  return checked(
    'isUrlOfScheme',
    `must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    (value) => isUrl(value, schemes),
  );
}

/** The path of an existing file. */
export function FileVariable(): PropertyDecorator {
  return checked('isFile', 'must be the path of an existing file', (value) => existsSync(value));
}

/** `name=value,name=value`, percent-encoded. */
export function PairsVariable(): PropertyDecorator {
  return checked(
    'isPairs',
    'must be a list of name=value, with commas between them',
    (value) => readPairs(value) !== undefined,
  );
}

/** A list of valid request headers. */
export function HeadersVariable(): PropertyDecorator {
  return checked(
    'isHeaders',
    'must be a list of name=value, with commas between them, of headers that can be sent',
    (value) => {
      const headers = readPairs(value);
      return headers !== undefined && Object.entries(headers).every(isHeader);
    },
  );
}

/** Comma-separated addresses and networks such as `10.0.0.0/8`. */
export function NetworksVariable(): PropertyDecorator {
  return checked(
    'isNetworks',
    'must be a list of IP addresses or networks such as 10.0.0.0/8, with commas between them',
    (value) => readNetworks(value) !== undefined,
  );
}

/** Comma-separated origins of web pages, or `*`. */
export function OriginsVariable(): PropertyDecorator {
  return checked(
    'isOrigins',
    'must be a list of origins such as https://app.example, with commas between them, or *',
    (value) => readOrigins(value) !== undefined,
  );
}

/** `priced-as:` and comma-separated row ids. */
export function UnlistedModelsVariable(): PropertyDecorator {
  return checked(
    'isPricedAs',
    'must be priced-as: and ids of rows such as openai/gpt-4o, with commas between them',
    (value) => readPricedAs(value) !== undefined,
  );
}

/** An API key that the operator declares. */
export function KeyVariable(type: keyof typeof OPERATOR_KEY_RULES): PropertyDecorator {
  return checked('isOperatorKey', OPERATOR_KEY_RULES[type], (value) => isOperatorKey(type, value));
}

function isHeader([name, value]: [name: string, value: string]): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

/** A variable with a custom check; `message` says what it must be. */
export function checked(
  name: string,
  message: string,
  isRight: (value: string) => boolean,
): PropertyDecorator {
  return all(
    IsOptional(),
    ValidateBy({
      name,
      validator: {
        validate: (value: unknown) => typeof value === 'string' && isRight(value),
        defaultMessage: buildMessage(() => message),
      },
    }),
  );
}

function all(...decorators: PropertyDecorator[]): PropertyDecorator {
  return (target, property) => decorators.forEach((decorate) => decorate(target, property));
}

/** Notes on a variable in addition to its meaning. */
interface VariableNotes {
  /** An example value. */
  readonly example: string;
  /** The default value. */
  readonly default?: string;
  /** The default in words, when it is no value. */
  readonly without?: string;
  /** True when its value is confidential. It can then also come from a file, by `<name>_FILE`. */
  readonly isSecret?: true;
  /** True when configuration versions may set it at run time. */
  readonly isChangeable?: true;
}

/** A variable as the settings page shows it. */
export interface DescribedVariable extends VariableNotes {
  readonly name: string;
  /** Markdown without a final full stop. */
  readonly meaning: string;
  /** The requirement that validation reports, such as `be true or false`; undefined accepts any text. */
  readonly rule: string | undefined;
}

type Description = Pick<DescribedVariable, 'meaning'> & VariableNotes;

/** Describes a variable in Markdown, for `docs/settings.md`. */
export function Describe(meaning: string, notes: VariableNotes): PropertyDecorator {
  return (target, property) => {
    const known = descriptions.get(target) ?? new Map<string, Description>();
    descriptions.set(target, known.set(String(property), { meaning, ...notes }));
  };
}

/**
 * Returns the variables of a class such as `EnvDto` in order.
 *
 * @throws Error when one has a validation but no description
 */
export function describeVariables(Variables: new () => object): DescribedVariable[] {
  const validations = getMetadataStorage().getTargetValidationMetadatas(
    Variables,
    '',
    false,
    false,
  );
  const names = [...new Set(validations.map(({ propertyName }) => propertyName))];
  return names.map((name) => {
    const description = descriptions.get(Variables.prototype as object)?.get(name);
    if (!description) throw new Error(`${name} has no @Describe`);
    return { name, ...description, rule: ruleOf(Variables, name) };
  });
}

/** Returns the names of a class's secret variables. */
export function secretVariables(Variables: new () => object): string[] {
  const described =
    descriptions.get(Variables.prototype as object) ?? new Map<string, Description>();
  return [...described].filter(([, { isSecret }]) => isSecret).map(([name]) => name);
}

/** Returns the names of a class's variables that may change at run time. */
export function changeableVariables(Variables: new () => object): string[] {
  const described =
    descriptions.get(Variables.prototype as object) ?? new Map<string, Description>();
  return [...described].filter(([, { isChangeable }]) => isChangeable).map(([name]) => name);
}

/** Returns what the validation requires, by validating a value that no variable can have. */
function ruleOf(Variables: new () => object, name: string): string | undefined {
  const broken = Object.assign(new Variables(), { [name]: {} });
  const [violation] = findViolations(broken, { refuseUnknown: false });
  return violation?.message.replace(/^must /, '');
}
