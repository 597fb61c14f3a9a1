import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Config } from '../config/app-config.js';

const MAX_ATTEMPTS = 3;
const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 60_000;

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
  return { ...packages, client };
}
