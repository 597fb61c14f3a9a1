import { IsOptional } from 'class-validator';
import type { S3Config } from './app-config.js';
import { withoutTrailingSlash } from './setting-values.js';
import { ChoiceVariable, UrlVariable, Describe } from './variable.decorators.js';

/** Self-hosted servers ignore the region, but requests must name one. */
const DEFAULT_REGION = 'us-east-1';

/** Variables of the bucket. */
export class S3Env {
  @Describe('Bucket for artifacts; see [artifacts.md](artifacts.md)', {
    without: 'artifacts are stored in the data folder',
    example: 'artifacts',
  })
  @IsOptional()
  S3_BUCKET?: string;

  @Describe('S3-compatible server', { without: 'AWS', example: 'http://store:9000' })
  @UrlVariable('http', 'https')
  S3_ENDPOINT?: string;

  @Describe('Region of the bucket', { default: 'us-east-1', example: 'eu-central-1' })
  @IsOptional()
  S3_REGION?: string;

  @Describe('Access key id; set both parts or neither', {
    without: "the machine's role",
    example: 'AKIAIOSFODNN7EXAMPLE',
  })
  @IsOptional()
  S3_ACCESS_KEY_ID?: string;

  @Describe('Secret access key', {
    without: "the machine's role",
    example: 'wJalrXUtnFEMI…',
    isSecret: true,
  })
  @IsOptional()
  S3_SECRET_ACCESS_KEY?: string;

  @Describe('`false` relays artifacts instead of redirecting to the bucket', {
    default: 'true',
    example: 'false',
  })
  @ChoiceVariable('true', 'false')
  S3_REDIRECT?: 'true' | 'false';
}

/** Returns which variables are missing or useless. */
export function incompleteS3(env: S3Env): string[] {
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

export function s3Of(env: S3Env): S3Config | undefined {
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
