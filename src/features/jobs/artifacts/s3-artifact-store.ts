import { Readable } from 'node:stream';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { S3Config } from '../../../platform/config/app-config.js';
import { openS3 } from '../../../platform/s3/s3-client.js';
import {
  ArtifactIdError,
  ArtifactStore,
  ArtifactTooLargeError,
  isArtifactId,
  type ByteRange,
  type OpenedArtifact,
  type PresignOptions,
} from './artifact-store.js';

/** Keeps artifacts apart from other objects in the bucket. */
const PREFIX = 'artifacts/';
/** The minimum part size of S3. 10,000 parts allow 50 GB. */
const PART_BYTES = 5 * 1024 * 1024;
/** Parts uploaded at the same time, all held in memory. */
const PARTS_AT_ONCE = 2;

/** Loads the upload module lazily, like the S3 client. */
async function openWithUploads(config: S3Config) {
  const [s3, storage, presigner] = await Promise.all([
    openS3(config),
    import('@aws-sdk/lib-storage'),
    import('@aws-sdk/s3-request-presigner'),
  ]);
  return { ...s3, Upload: storage.Upload, getSignedUrl: presigner.getSignedUrl };
}

type S3 = Awaited<ReturnType<typeof openWithUploads>>;

/** Stores artifacts in an S3-compatible bucket. */
@Injectable()
export class S3ArtifactStore extends ArtifactStore implements OnApplicationShutdown {
  private loading: Promise<S3> | undefined;

  constructor(private readonly config: S3Config) {
    super();
  }

  async put(
    id: string,
    contentType: string,
    bytes: AsyncIterable<Buffer>,
    limitBytes: number,
  ): Promise<{ bytes: number }> {
    const location = this.locate(id);
    const { client, Upload } = await this.load();
    let size = 0;
    let failure: unknown;
    async function* counted(): AsyncGenerator<Buffer> {
      try {
        for await (const chunk of bytes) {
          size += chunk.length;
          if (size > limitBytes) throw new ArtifactTooLargeError(limitBytes);
          yield chunk;
        }
      } catch (error) {
        failure = error;
        throw error;
      }
    }
    const body = Readable.from(counted(), { objectMode: false });
    const upload = new Upload({
      client,
      params: { ...location, Body: body, ContentType: contentType },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
    });
    try {
      await upload.done();
      return { bytes: size };
    } catch (error) {
      throw failure ?? error;
    } finally {
      body.destroy();
    }
  }

  async whereabouts(): Promise<string> {
    const { bucket, endpoint = 's3' } = this.config;
    return `the bucket ${bucket} at ${endpoint}`;
  }

  async open(id: string, range?: ByteRange): Promise<OpenedArtifact | undefined> {
    const { client, GetObjectCommand, NoSuchKey } = await this.load();
    const Range = range && `bytes=${range.start}-${range.end}`;
    try {
      const answer = await client.send(new GetObjectCommand({ ...this.locate(id), Range }));
      if (!(answer.Body instanceof Readable)) throw new Error('the bucket sent no stream');
      const { Body: stream, ContentLength: length } = answer;
      const total = /\/(\d+)$/.exec(answer.ContentRange ?? '')?.[1];
      // HTTP then holds the body to it. More bytes than announced would be read as another response by our caller.
      if (length === undefined || (range && length !== range.end - range.start + 1)) {
        stream.destroy();
        throw new Error('the bucket sent a file of another length');
      }
      return { bytes: total === undefined ? length : Number(total), stream };
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    }
  }

  async remove(id: string): Promise<void> {
    const { client, DeleteObjectCommand } = await this.load();
    await client.send(new DeleteObjectCommand(this.locate(id)));
  }

  async presign(id: string, options: PresignOptions): Promise<string | undefined> {
    if (!this.config.redirect) return undefined;
    const { client, GetObjectCommand, getSignedUrl } = await this.load();
    const command = new GetObjectCommand({
      ...this.locate(id),
      ResponseContentType: options.contentType,
      ResponseContentDisposition: options.contentDisposition,
      ResponseCacheControl: 'private, no-store',
    });
    return getSignedUrl(client, command, { expiresIn: options.lifetimeSeconds });
  }

  async onApplicationShutdown(): Promise<void> {
    const s3 = await this.loading?.catch(() => undefined);
    s3?.client.destroy();
  }

  private locate(id: string): { Bucket: string; Key: string } {
    if (!isArtifactId(id)) throw new ArtifactIdError();
    return { Bucket: this.config.bucket, Key: PREFIX + id };
  }

  private load(): Promise<S3> {
    this.loading ??= openWithUploads(this.config).catch((error: unknown) => {
      this.loading = undefined;
      throw error;
    });
    return this.loading;
  }
}
