import { useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query';
import { ApiError } from './client';

/**
 * A change, after which what it touches is read anew.
 *
 * @param run makes it
 * @param touches the first words of the query keys that it touches
 * @param done is called with what the API answered
 */
export function useChange<Values, Answer>(
  run: (values: Values) => Promise<Answer>,
  touches: readonly string[],
  done?: (answer: Answer) => void,
): UseMutationResult<Answer, Error, Values> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: async (answer) => {
      done?.(answer);
      await client.invalidateQueries({
        predicate: ({ queryKey }) => touches.includes(String(queryKey[0])),
      });
    },
  });
}

/** What is said about a field, by its `param`; of one with members, about any of them. */
export function errorAt(error: Error | null, param: string): string | undefined {
  const at = error instanceof ApiError ? error.param : null;
  return at === param || at?.startsWith(`${param}.`) === true ? error?.message : undefined;
}

/** What is said about none of the fields, which show their own. */
export function errorElsewhere(error: Error | null, params: readonly string[]): string | undefined {
  return error && params.every((param) => errorAt(error, param) === undefined)
    ? error.message
    : undefined;
}

/** What a refusal says of each field of a form, and what it says of none of them. */
export function formErrors(
  error: Error | null,
  params: readonly string[],
): { of: (param: string) => string | undefined; other: string | undefined } {
  return { of: (param) => errorAt(error, param), other: errorElsewhere(error, params) };
}

/** A key by which the API does something once, however often it is sent. */
export function idempotencyKey(): string {
  // `randomUUID` is missing on pages that are neither https nor on this machine.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
