/** An error response of the API. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    message: string,
    /** Name of the invalid request field, if any. */
    readonly param: string | null,
    readonly requestId: string | null,
    /** Seconds to wait before a retry, if the API sent them. */
    readonly retryAfter: number | null,
  ) {
    super(message);
  }
}
