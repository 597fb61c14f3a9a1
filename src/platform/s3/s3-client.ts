import { pipeline, Readable, Transform } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Config } from '../config/app-config.js';

const MAX_ATTEMPTS = 3;
const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 60_000;
/** The limit of an answer that is not a file. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const ANSWER_MS = 30_000;

/** The package, and a client to be destroyed in the end. */
export type S3 = typeof import('@aws-sdk/client-s3') & { readonly client: S3Client };

/** Loads the package on first use, so that services without S3 do not pay for it in memory. */
export async function openS3({
  endpoint,
  region,
  accessKeyId,
  secretAccessKey,
}: S3Config): Promise<S3> {
  const packages = await import('@aws-sdk/client-s3');
  const client = new packages.S3Client({
    region,
    // Self-hosted servers have no host name per bucket.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    // Without keys the SDK uses its default chain, such as the machine's role.
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
    // Not every server supports the newer checksums.
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
    // Innermost: runs before the SDK reads the answer.
    { step: 'deserialize', priority: 'low', name: 'limitBody' },
  );
  return { ...packages, client };
}

/** Limits every answer but files: the SDK buffers XML and errors in memory, however long they are. */
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
