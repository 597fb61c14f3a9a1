import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

/** A vendor of images, videos and speech in OpenAI's dialect that records accepted work. */
export interface MediaVendor {
  baseUrl: string;
  /** The prompt of every accepted submission. */
  readonly accepted: string[];
  /** The key of each call, polls included. */
  readonly keys: string[];
  /** Number of rejected submissions. */
  readonly refused: number;
  close(): Promise<void>;
}

export interface MediaVendorOptions {
  /** Returns a number from 0 to 1, called once per call. */
  random: () => number;
  /** The share of submissions rejected with a 500. */
  refuses: number;
  /** The share of accepted submissions whose responses are lost. */
  losesAnswers: number;
  /** Maximum duration of an image or speech generation. */
  workMs: number;
}

const PICTURE = Buffer.from('89504e470d0a1a0a00', 'hex').toString('base64');

/** Starts one on loopback. Prompts must differ in their first sentence. */
export async function startMediaVendor(options: MediaVendorOptions): Promise<MediaVendor> {
  const { random } = options;
  const accepted: string[] = [];
  const keys: string[] = [];
  const videos = new Map<string, number>();
  let refused = 0;

  /** Resolves to whether the submission gets a response. */
  const accept = async (words: string, response: http.ServerResponse): Promise<boolean> => {
    if (random() < options.refuses) {
      refused++;
      response.writeHead(500, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"not now","type":"server_error"}}');
      return false;
    }
    accepted.push(words);
    if (random() >= options.losesAnswers) return true;
    response.destroy();
    return false;
  };
  const answerJson = (response: http.ServerResponse, body: object): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };

  const answer = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method, url = '' } = request;
    keys.push((request.headers.authorization ?? '').replace('Bearer ', ''));
    const [, videoId, rest] = /^\/v1\/videos\/([^/]+)(\/content)?$/.exec(url) ?? [];
    if (videoId !== undefined) {
      const doneAtMs = videos.get(videoId);
      if (method === 'DELETE' || doneAtMs === undefined) {
        videos.delete(videoId);
        response.writeHead(doneAtMs === undefined ? 404 : 200).end('{}');
      } else if (rest) {
        response.writeHead(200, { 'content-type': 'video/mp4' }).end('a film');
      } else {
        const status = Date.now() >= doneAtMs ? 'completed' : 'in_progress';
        answerJson(response, { id: videoId, object: 'video', status, seconds: '4' });
      }
    } else if (url === '/v1/videos') {
      const prompt = /name="prompt"\r\n\r\n([^\r]*)/.exec(body)?.[1] ?? '';
      const id = `video_${accepted.length}`;
      if (!(await accept(prompt, response))) return;
      videos.set(id, Date.now() + random() * 10 * options.workMs);
      answerJson(response, { id, object: 'video', status: 'queued' });
    } else {
      const request = JSON.parse(body) as { prompt?: string; input?: string };
      if (!(await accept(request.prompt ?? request.input ?? '', response))) return;
      await wait(random() * options.workMs);
      if (request.input !== undefined) {
        response.writeHead(200, { 'content-type': 'audio/pcm' }).end(Buffer.alloc(4_800));
      } else {
        answerJson(response, { created: 1, data: [{ b64_json: PICTURE }] });
      }
    }
  };
  const server = http.createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    accepted,
    keys,
    get refused() {
      return refused;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
