import { validateSync, type ValidationError } from 'class-validator';

/** One thing wrong with an object: where (dotted, empty for the whole), and what it should be. */
export interface Violation {
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
