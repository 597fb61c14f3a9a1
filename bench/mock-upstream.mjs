/**
 * A vendor on loopback, as a process of its own: OpenAI's chat completions with made-up answers.
 * A streamed answer is written a chunk at a time: as fast as the socket takes them, or, when the
 * model's name begins with `paced`, one every 50 ms.
 */
import http from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { piecesOf, pieceOf, textOf, usageOf } from './answers.mjs';
import { PacedWriter } from './paced-writer.mjs';
import { listen, readBody } from './serving.mjs';

const paced = new PacedWriter();

const server = http.createServer((request, response) => {
  answer(request, response).catch(() => response.destroy());
});
// Longer than any pause of a run: a connection closed here would look like a failure of the proxy.
server.keepAliveTimeout = 300_000;
await listen(server);

async function answer(request, response) {
  const body = JSON.parse(await readBody(request));
  let promptCharacters = 0;
  for (const message of body.messages) promptCharacters += message.content.length;
  const call = { user: body.user, model: `${body.model}-2026-01-31`, promptCharacters };
  if (body.stream !== true) return sendWhole(call, response);

  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  const chunks = chunksOf(call);
  if (body.model.startsWith('paced')) paced.add(chunks, response);
  else await writeFast(chunks, response);
}

function sendWhole(call, response) {
  const bytes = Buffer.from(
    JSON.stringify({
      id: `chatcmpl-${call.user}`,
      object: 'chat.completion',
      created: 1_790_000_000,
      model: call.model,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: textOf(call.user, call.promptCharacters),
            refusal: null,
            annotations: [],
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: usageObject(call.user),
      service_tier: 'default',
      system_fingerprint: 'fp_44709d6fcb',
    }),
  );
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
  response.end(bytes);
}

/** Every event of a stream: role, one for each piece of text, finish, usage, `[DONE]`. */
function* chunksOf({ user, model, promptCharacters }) {
  const head =
    `data: {"id":"chatcmpl-${user}","object":"chat.completion.chunk","created":1790000000,` +
    `"model":"${model}","service_tier":"default","system_fingerprint":"fp_44709d6fcb",`;
  const choice = (delta, finish) =>
    `${head}"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish}}],` +
    `"usage":null,"obfuscation":"k3Qz8"}\n\n`;

  yield choice('{"role":"assistant","content":"","refusal":null}', 'null');
  const pieces = piecesOf(user);
  for (let index = 0; index < pieces; index++) {
    yield choice(`{"content":"${pieceOf(user, index, promptCharacters)}"}`, 'null');
  }
  yield choice('{}', '"stop"');
  yield `${head}"choices":[],"usage":${JSON.stringify(usageObject(user))},"obfuscation":""}\n\n`;
  yield 'data: [DONE]\n\n';
}

/** A turn of the event loop for each chunk: Node would join those of one turn into one write. */
async function writeFast(chunks, response) {
  for (const chunk of chunks) {
    if (response.destroyed) return;
    const isTaken = response.write(chunk);
    if (isTaken) await nextTurn();
    else await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
  }
  response.end();
}

function usageObject(user) {
  const { promptTokens, completionTokens } = usageOf(user);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
