import { validateSync, type ValidationError } from 'class-validator';
import { readFileSync } from 'node:fs';
import { codeOf } from '../errors/thrown.js';

/** Thrown when the settings are invalid and the service cannot start. Each problem is one line with the variable or entry and the rule it breaks, without secrets. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** A violation: the dotted path (empty for the whole object) and what the value should be. */
interface Violation {
  path: string;
  message: string;
}

/** Validates an instance of a class with class-validator decorators. `refuseUnknown` also reports unknown fields; messages contain no values. */
export function findViolations(instance: object, options: { refuseUnknown: boolean }): Violation[] {
  const errors = validateSync(instance, {
    whitelist: options.refuseUnknown,
    forbidNonWhitelisted: options.refuseUnknown,
    forbidUnknownValues: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
  });
  return errors.flatMap((error) => flatten(error, []));
}

function flatten(error: ValidationError, parents: string[]): Violation[] {
  const path = [...parents, error.property];
  const own = Object.entries(error.constraints ?? {})
    .slice(0, 1)
    .map(([constraint, message]) => ({
      path: path.join('.'),
      message: constraint === 'whitelistValidation' ? 'is not a known field' : message,
    }));
  return [...own, ...(error.children ?? []).flatMap((child) => flatten(child, path))];
}

/**
 * Reads a JSON file that the operator wrote.
 *
 * @throws Error whose message completes a sentence that begins with the variable's name
 */
export function readJsonFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = codeOf(error) ?? 'unknown error';
    throw new Error(`names a file that cannot be read (${code})`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    // The parser's message quotes the file, which may contain keys.
    throw new Error('names a file that is not valid JSON', { cause: error });
  }
}
