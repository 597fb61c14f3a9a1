import { validateSync, type ValidationError } from 'class-validator';
import { readFileSync } from 'node:fs';
import { codeOf } from '../errors/thrown.js';

/**
 * The service was set up wrongly and does not start. Each problem is one line that names the
 * variable or the entry at fault and says what it should be; none holds a secret.
 */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** One thing wrong with an object: where (dotted, empty for the whole), and what it should be. */
interface Violation {
  path: string;
  message: string;
}

/**
 * Checks an instance of a class with class-validator decorators. Unknown fields are violations
 * too when `refuseUnknown` is set; values never appear in the messages.
 */
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
 * The content of a JSON file that the operator wrote.
 * @throws Error whose message completes a sentence that begins with the variable's name.
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
    // The parser's own message quotes the file, which may hold keys.
    throw new Error('names a file that is not valid JSON', { cause: error });
  }
}
