import type { IncomingMessage } from 'node:http';
import { InvalidRequestError } from '../errors/gateway-errors.js';
import { parseJsonBody, type JsonBody } from './json-body.js';
import { readBody } from './read-body.js';

/** The interface's limit on bodies: 20 MB. */
const MAX_JSON_BODY_BYTES = 20_000_000;

/** Reads and parses a JSON body. @throws InvalidRequestError as `readBody` and `parseJsonBody` do */
export async function readJsonBody(request: IncomingMessage): Promise<JsonBody> {
  const contentType = request.headers['content-type'];
  if (contentType !== undefined && !isJson(contentType)) {
    throw new InvalidRequestError(
      'content-type',
      `Content-Type ${JSON.stringify(contentType.slice(0, 80))} is not taken here; send application/json.`,
      415,
    );
  }
  return parseJsonBody(await readBody(request, { maxBytes: MAX_JSON_BODY_BYTES }));
}

function isJson(contentType: string): boolean {
  if (contentType === 'application/json') return true;
  const mediaType = contentType.split(';', 1)[0]!.trim().toLowerCase();
  return mediaType === 'application/json' || mediaType.endsWith('+json');
}
