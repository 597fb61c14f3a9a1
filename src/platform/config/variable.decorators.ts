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
} from 'class-validator';
import { existsSync } from 'node:fs';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { availableParallelism } from 'node:os';
import { isUrl } from './is-url.js';
import { readPairs } from './read-pairs.js';
import { isOperatorKey, OPERATOR_KEY_RULES } from './operator-key.js';

/** An optional whole number, written in digits. */
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

/** A share, from 0 to 1. */
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

/** A number of processes, or `auto` for one a core. */
export function WorkersVariable(): PropertyDecorator {
  return all(
    Transform(({ value }: { value: unknown }) =>
      value === 'auto' ? String(availableParallelism()) : value,
    ),
    IntegerVariable(1, 256),
  );
}

/** One of a few words. */
export function ChoiceVariable(...choices: string[]): PropertyDecorator {
  return all(IsOptional(), IsIn(choices, { message: `must be ${choices.join(' or ')}` }));
}

/** `true` or `false` in letters of either size. */
export function FlagVariable(): PropertyDecorator {
  return all(
    Transform(({ value }: { value: unknown }) =>
      typeof value === 'string' ? value.toLowerCase() : value,
    ),
    ChoiceVariable('true', 'false'),
  );
}

/** A URL of one of the schemes, which are given without their colon. */
export function UrlVariable(...schemes: string[]): PropertyDecorator {
  return checked(
    'isUrlOfScheme',
    `must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`,
    (value) => isUrl(value, schemes),
  );
}

/** The path of a file that is there. */
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

/** The same, of headers that a request can have. */
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

/** An API key that the operator declares. */
export function KeyVariable(type: 'routing' | 'management'): PropertyDecorator {
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

function checked(
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
