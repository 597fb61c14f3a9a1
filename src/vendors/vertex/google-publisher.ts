import { classifyGenerateContentError } from '../dialects/generate-content/classify-generate-content-error.js';
import { decodeGenerateContentAnswer } from '../dialects/generate-content/decode-generate-content-answer.js';
import { droppedFields } from '../dialects/generate-content/dropped-fields.js';
import { encodeGenerateContentRequest } from '../dialects/generate-content/encode-generate-content-request.js';
import { GenerateContentStreamDecoder } from '../dialects/generate-content/generate-content-stream-decoder.js';
import { readEventStream } from '../dialects/read-event-stream.js';
import { geminiTraits } from './gemini-traits.js';
import type { VertexPublisher } from './vertex-publisher.js';

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Google's own models on Vertex: Gemini. */
export const GOOGLE_PUBLISHER: VertexPublisher = {
  name: 'google',
  method: (stream) => (stream ? 'streamGenerateContent?alt=sse' : 'generateContent'),
  relays: () => false,
  droppedParams: (request, { upstreamModel }) =>
    droppedFields(request, geminiTraits(upstreamModel)),
  prepare: ({ request, upstreamModel, ownOutputLimit }) => ({
    body: encodeGenerateContentRequest(request, geminiTraits(upstreamModel), ownOutputLimit),
    read: async (response, describe) =>
      request.stream
        ? readEventStream(response, new GenerateContentStreamDecoder(), describe)
        : decodeGenerateContentAnswer(await response.readAll(MAX_ANSWER_BYTES)),
  }),
  classifyError: classifyGenerateContentError,
};
