import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { APP_CONFIG, type AppConfig } from '../../../platform/config/app-config.js';
import { GatewayError } from '../../../platform/errors/gateway-errors.js';
import { openS3, type S3 } from '../../../platform/s3/s3-client.js';

const PREFIX = 'request-logs/v1/';
/** Files have 50,000 rows at most and are read in parts. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 30;

/** Thrown when archived data is needed and the bucket does not respond. */
export class ArchiveUnavailableError extends GatewayError {
  constructor(options?: ErrorOptions) {
    super(
      {
        status: 503,
        type: 'provider_unavailable',
        param: 'gateway',
        message:
          'Requests of that time are archived, and the archive is unavailable. Try again later, or query more recent requests only.',
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      },
      options,
    );
  }
}

/** Stores archived months of the request log in a bucket. */
@Injectable()
export class ArchiveBucket implements OnApplicationShutdown {
  private readonly logger = new Logger(ArchiveBucket.name);
  private opening: Promise<S3> | undefined;

  constructor(@Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 's3'>) {}

  /**
   * Stores a file under a key derived from its content, so that repeated writes are idempotent and
   * never overwrite another gateway's files.
   *
   * @param month such as `2026_11`
   * @returns the key
   * @throws ArchiveUnavailableError
   */
  async put(month: string, bytes: Uint8Array): Promise<string> {
    const digest = createHash('sha256').update(bytes).digest('hex');
    const Key = `${PREFIX}${month.replace('_', '-')}/${digest}.parquet`;
    await this.ask(({ client, PutObjectCommand }, Bucket) =>
      client.send(
        new PutObjectCommand({
          Bucket,
          Key,
          Body: bytes,
          ContentType: 'application/vnd.apache.parquet',
        }),
      ),
    );
    return Key;
  }

  /**
   * @param end exclusive
   * @throws ArchiveUnavailableError
   */
  async read(Key: string, start: number, end: number): Promise<ArrayBuffer> {
    const bytes = await this.ask(async ({ client, GetObjectCommand }, Bucket) => {
      const Range = `bytes=${start}-${end - 1}`;
      if (!(end - start <= MAX_READ_BYTES)) throw new Error(`${Key} declares an oversized range`);
      const { Body, ContentLength } = await client.send(
        new GetObjectCommand({ Bucket, Key, Range }),
      );
      // HTTP holds the body to its length.
      if (ContentLength !== end - start) {
        if (Body instanceof Readable) Body.destroy();
        throw new Error(`${Key} has changed its length`);
      }
      const read = await Body?.transformToByteArray();
      if (read?.length !== end - start) throw new Error(`${Key} has an unexpected length`);
      return read;
    });
    return Uint8Array.from(bytes).buffer;
  }

  /**
   * Deletes a file; a missing one is no error.
   *
   * @throws ArchiveUnavailableError
   */
  async remove(Key: string): Promise<void> {
    await this.ask(({ client, DeleteObjectCommand }, Bucket) =>
      client.send(new DeleteObjectCommand({ Bucket, Key })),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    const s3 = await this.opening?.catch(() => undefined);
    s3?.client.destroy();
  }

  private async ask<Answer>(
    question: (s3: S3, bucket: string) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      const { s3 } = this.config;
      if (!s3) throw new Error('S3_BUCKET is not set');
      this.opening ??= openS3(s3).catch((error: unknown) => {
        this.opening = undefined;
        throw error;
      });
      return await question(await this.opening, s3.bucket);
    } catch (error) {
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      this.logger.warn(`request log archive unavailable: ${reason}`);
      throw new ArchiveUnavailableError({ cause: error });
    }
  }
}
