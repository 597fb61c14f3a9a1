import { classifyGenerateContentError } from '../dialects/generate-content/classify-generate-content-error.js';
import { decodeGenerateContentAnswer } from '../dialects/generate-content/decode-generate-content-answer.js';
import { droppedFields } from '../dialects/generate-content/dropped-fields.js';
import { encodeGenerateContentRequest } from '../dialects/generate-content/encode-generate-content-request.js';
import { GenerateContentStreamDecoder } from '../dialects/generate-content/generate-content-stream-decoder.js';
import { geminiTraits } from './gemini-traits.js';
import type { VertexPublisher } from './vertex-publisher.js';

/** Google's own models on Vertex: Gemini. */
export const GOOGLE_PUBLISHER: VertexPublisher = {
  name: 'google',
  method: (stream) => (stream ? 'streamGenerateContent?alt=sse' : 'generateContent'),
  droppedParams: (request, model) => droppedFields(request, geminiTraits(model)),
  encode: ({ request, upstreamModel }) =>
    encodeGenerateContentRequest(request, geminiTraits(upstreamModel)),
  decodeWhole: (bytes) => decodeGenerateContentAnswer(bytes),
  decodeStream: () => new GenerateContentStreamDecoder(),
  classifyError: classifyGenerateContentError,
};
