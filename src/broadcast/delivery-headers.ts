/** What a delivery is sent with: the tenant's own headers, and what belongs to its body. */
export function deliveryHeaders(
  own: Readonly<Record<string, string>>,
  idempotencyKey: string,
): Record<string, string> {
  return {
    'user-agent': 'model-gateway',
    ...own,
    'content-type': 'application/json',
    // The same for every attempt, so that a receiver can tell a repetition.
    'idempotency-key': idempotencyKey,
  };
}
