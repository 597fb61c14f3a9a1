import type { S3Config } from './app-config.js';
import type { EnvDto } from './env.dto.js';
import { withoutTrailingSlash } from './is-url.js';

/** Where a bucket of one's own server lies does not matter to it, but requests have to name it. */
const DEFAULT_REGION = 'us-east-1';

/** Which of the variables are missing or of no use. */
export function incompleteS3(env: EnvDto): string[] {
  const problems: string[] = [];
  if (!env.S3_BUCKET && env.S3_ENDPOINT) {
    problems.push('S3_BUCKET must be set when S3_ENDPOINT is');
  }
  if (env.S3_ACCESS_KEY_ID && !env.S3_SECRET_ACCESS_KEY) {
    problems.push('S3_SECRET_ACCESS_KEY must be set when S3_ACCESS_KEY_ID is');
  }
  if (!env.S3_ACCESS_KEY_ID && env.S3_SECRET_ACCESS_KEY) {
    problems.push('S3_ACCESS_KEY_ID must be set when S3_SECRET_ACCESS_KEY is');
  }
  return problems;
}

export function s3Of(env: EnvDto): S3Config | undefined {
  if (!env.S3_BUCKET) return undefined;
  return {
    bucket: env.S3_BUCKET,
    endpoint: env.S3_ENDPOINT && withoutTrailingSlash(env.S3_ENDPOINT),
    region: env.S3_REGION ?? DEFAULT_REGION,
    accessKeyId: env.S3_ACCESS_KEY_ID,
    secretAccessKey: env.S3_SECRET_ACCESS_KEY,
    redirect: env.S3_REDIRECT !== 'false',
  };
}
