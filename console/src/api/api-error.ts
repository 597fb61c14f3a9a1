/** What the API said when it refused: its message, the field it is about, and where to look further. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    message: string,
    /** The field of the request that is wrong, if one is. */
    readonly param: string | null,
    readonly requestId: string | null,
    /** Seconds after which asking again makes sense, if the API said so. */
    readonly retryAfter: number | null,
  ) {
    super(message);
  }
}
