import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { ArtifactStore } from './artifacts/artifact-store.js';
import { InternalError } from '../../platform/errors/gateway-errors.js';
import { drained } from '../../platform/http/drained.js';
import { CallerGoneError } from '../../platform/http/read-body.js';
import type { JsonObject } from '../../platform/http/json-body.js';
import type { JobArtifact } from './job.js';

/** Base64 turns three bytes into four characters; what is left over waits for the next piece. */
const BYTES_PER_GROUP = 3;

/** Sends pictures within a JSON answer, piece by piece, so that no picture is in memory whole. */
@Injectable()
export class EncodedImages {
  constructor(private readonly store: ArtifactStore) {}

  /**
   * @param rest the answer's fields beside `data`
   * @throws GatewayError before anything was sent; CallerGoneError when the reader has left
   */
  async send(
    response: ServerResponse,
    artifacts: readonly JobArtifact[],
    rest: JsonObject,
  ): Promise<void> {
    for (const [index, { id }] of artifacts.entries()) {
      const opened = await this.store.open(id);
      if (!opened) throw new InternalError({ cause: new Error(`the file ${id} is gone`) });
      if (index === 0) {
        response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
        await write(response, `${JSON.stringify(rest).slice(0, -1)},"data":[`);
      }
      await write(response, `${index === 0 ? '' : ','}{"b64_json":"`);
      await this.sendEncoded(response, opened.stream);
      await write(response, '"}');
    }
    response.end(']}');
  }

  private async sendEncoded(
    response: ServerResponse,
    pieces: AsyncIterable<Buffer>,
  ): Promise<void> {
    let rest: Buffer = Buffer.alloc(0);
    for await (const piece of pieces) {
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
      const whole = bytes.length - (bytes.length % BYTES_PER_GROUP);
      rest = bytes.subarray(whole);
      await write(response, bytes.toString('base64', 0, whole));
    }
    await write(response, rest.toString('base64'));
  }
}

async function write(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed) throw new CallerGoneError();
  if (text !== '' && !response.write(text)) await drained(response);
}
