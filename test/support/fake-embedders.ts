import type http from 'node:http';
import type { RecordedCall, Script } from '../contract/scripted-server.js';

/** The common parts of the vendors' embedding calls. */
export interface EmbeddingCall {
  vendor: 'chat-like' | 'deployment' | 'predict' | 'invoke';
  texts: string[];
  body: Record<string, unknown>;
}

/** Reads a call in the wire format that its path implies. */
export function readEmbeddingCall({ path, body }: RecordedCall): EmbeddingCall {
  const value = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  if (path.endsWith(':predict')) {
    const instances = value.instances as { content: string }[];
    return { vendor: 'predict', texts: instances.map(({ content }) => content), body: value };
  }
  if (path.endsWith('/invoke')) {
    return { vendor: 'invoke', texts: value.texts as string[], body: value };
  }
  const texts = typeof value.input === 'string' ? [value.input] : (value.input as string[]);
  return { vendor: path.startsWith('/openai/') ? 'deployment' : 'chat-like', texts, body: value };
}

/** A vector that identifies its text. */
export const vectorOf = (text: string): number[] => [
  text.length,
  Number(/\d+/.exec(text)?.[0] ?? 0),
];

/** Answers every vendor's calls as that vendor would, counting one token per character where it counts. */
export const answerEmbeddings: Script = (call, response) => {
  const { vendor, texts, body } = readEmbeddingCall(call);
  const tokens = texts.join('').length;
  switch (vendor) {
    case 'invoke':
      return send(response, { embeddings: texts.map(vectorOf), id: 'x', texts });
    case 'predict':
      return send(response, {
        predictions: texts.map((text) => ({
          embeddings: {
            values: vectorOf(text),
            statistics: { truncated: false, token_count: text.length },
          },
        })),
      });
    default:
      return send(response, {
        object: 'list',
        data: texts.map((text, index) => ({
          object: 'embedding',
          index,
          embedding: body.encoding_format === 'base64' ? toBase64(vectorOf(text)) : vectorOf(text),
        })),
        model: body.model,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      });
  }
};

function send(response: http.ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function toBase64(vector: number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}
