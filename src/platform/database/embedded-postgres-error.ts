/** The embedded database cannot be used; the message says why and what to do, in one or two lines. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}
