/** Why a destination whose headers were sealed with another secret cannot be asked. */
export const HEADERS_UNREADABLE =
  'could not be asked, because its headers cannot be read any more: set them again';

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
