import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { ApiError } from './client';

/**
 * Returns a mutation that invalidates the queries it affects.
 *
 * @param run performs the change
 * @param invalidates first elements of the query keys to refetch
 * @param onSuccess receives the API's response
 */
export function useChange<Values, Answer>(
  run: (values: Values) => Promise<Answer>,
  invalidates: readonly string[],
  onSuccess?: (answer: Answer) => void,
): UseMutationResult<Answer, Error, Values> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: async (answer) => {
      onSuccess?.(answer);
      await client.invalidateQueries({
        predicate: ({ queryKey }) => invalidates.includes(String(queryKey[0])),
      });
    },
  });
}

/** Returns the error message for a field, including errors on its members. */
export function errorAt(error: Error | null, param: string): string | undefined {
  const at = error instanceof ApiError ? error.param : null;
  return at === param || at?.startsWith(`${param}.`) === true ? error?.message : undefined;
}

/** Returns the error message unless one of the fields shows it. */
export function errorElsewhere(error: Error | null, params: readonly string[]): string | undefined {
  return error && params.every((param) => errorAt(error, param) === undefined)
    ? error.message
    : undefined;
}

/** Splits an API error into the messages of a form's fields and the rest. */
export function formErrors(
  error: Error | null,
  params: readonly string[],
): { of: (param: string) => string | undefined; other: string | undefined } {
  return { of: (param) => errorAt(error, param), other: errorElsewhere(error, params) };
}

/** Creates an `Idempotency-Key`. */
export function idempotencyKey(): string {
  // `crypto.randomUUID` exists only on https and localhost.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
