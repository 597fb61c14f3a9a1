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

/** What is asked for lies in a bucket that gives no answer. */
export class ArchiveUnavailableError extends GatewayError {
  constructor(options?: ErrorOptions) {
    super(
      {
        status: 503,
        type: 'provider_unavailable',
        param: 'gateway',
        message:
          'Requests of that time lie in the archive of the request log, which cannot be reached now. Try again later, or ask for younger requests only.',
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      },
      options,
    );
  }
}

/** The bucket with the months of the request log that are no longer in the database. */
@Injectable()
export class ArchiveBucket implements OnApplicationShutdown {
  private readonly logger = new Logger(ArchiveBucket.name);
  private opening: Promise<S3> | undefined;

  constructor(@Inject(APP_CONFIG) private readonly config: Pick<AppConfig, 's3'>) {}

  /**
   * Keeps a file under a name that its content gives: whoever stores it again changes nothing, and
   * nobody overwrites what another gateway keeps in the bucket.
   *
   * @param month `2026_11`
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

  /** @param end the first byte that is not wanted. @throws ArchiveUnavailableError */
  async read(Key: string, start: number, end: number): Promise<ArrayBuffer> {
    const bytes = await this.ask(async ({ client, GetObjectCommand }, Bucket) => {
      const Range = `bytes=${start}-${end - 1}`;
      if (!(end - start <= MAX_READ_BYTES))
        throw new Error(`${Key} names too long a part of itself`);
      const { Body, ContentLength } = await client.send(
        new GetObjectCommand({ Bucket, Key, Range }),
      );
      // HTTP holds the body to its length.
      if (ContentLength !== end - start) {
        if (Body instanceof Readable) Body.destroy();
        throw new Error(`${Key} is not as long as it was`);
      }
      const read = await Body?.transformToByteArray();
      if (read?.length !== end - start) throw new Error(`${Key} is not as long as it was`);
      return read;
    });
    return Uint8Array.from(bytes).buffer;
  }

  /** Of one that is not there too. @throws ArchiveUnavailableError */
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
      this.logger.warn(`The archive of the request log gave no answer: ${reason}`);
      throw new ArchiveUnavailableError({ cause: error });
    }
  }
}
