import { pipeline, Readable, Transform } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Config } from '../config/app-config.js';

const MAX_ATTEMPTS = 3;
const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 60_000;
/** Of an answer that is not a file. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const ANSWER_MS = 30_000;

/** What the package has, and a client that is to be destroyed in the end. */
export type S3 = typeof import('@aws-sdk/client-s3') & { readonly client: S3Client };

/** The package is loaded with the first use: it costs memory that nobody without S3 should pay. */
export async function openS3({
  endpoint,
  region,
  accessKeyId,
  secretAccessKey,
}: S3Config): Promise<S3> {
  const packages = await import('@aws-sdk/client-s3');
  const client = new packages.S3Client({
    region,
    // Servers of one's own have no host name for each bucket.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    // Without keys the SDK looks where it always does, such as the machine's role.
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
    // Further checksums are news that not every server has heard of.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (request) => {
        const answer = await next(request);
        limitBody(answer.response, commandName === 'GetObjectCommand');
        return answer;
      },
    // Innermost: before the SDK reads the answer.
    { step: 'deserialize', priority: 'low', name: 'limitBody' },
  );
  return { ...packages, client };
}

/** Limits every answer but a file: the SDK collects XML and errors in memory, however long they are. */
function limitBody(response: unknown, mayBeFile: boolean): void {
  const answer = response as { statusCode?: number; body?: unknown };
  const { statusCode = 0, body } = answer;
  if (!(body instanceof Readable) || (mayBeFile && statusCode < 300)) return;
  const stop = setTimeout(() => body.destroy(new Error('the answer takes too long')), ANSWER_MS);
  let bytes = 0;
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done): void {
      bytes += chunk.length;
      done(bytes > MAX_ANSWER_BYTES ? new Error('the answer is too long') : null, chunk);
    },
  });
  pipeline(body, limited, () => clearTimeout(stop));
  answer.body = limited;
}
