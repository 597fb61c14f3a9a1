import { notOnSharedCapacity } from '../canonical/account-bound.js';
import { countCodePoints } from '../canonical/count-code-points.js';
import { estimateTokens } from '../canonical/estimate-tokens.js';
import { readModelChain } from '../canonical/model-alias.js';
import { PromptMeter } from '../canonical/prompt-size.js';
import { readRoutingPreferences } from '../canonical/routing-preferences.js';
import type { SpeechRequest } from '../canonical/speech-request.js';
import { NO_USAGE, type Usage } from '../canonical/usage.js';
import type { JsonBody } from '../common/http/json-body.js';
import { assertValid, compileSchema } from '../common/http/validate-body.js';
import { boundSpeechLength, estimateSpeechLength } from './speech-length.js';
import { speechSchema } from './speech.schema.js';

const validate = compileSchema(speechSchema);

/** A body that the schema has let pass. */
interface SpeechBody {
  input: string;
  voice: string | { id: string };
  response_format?: string | null;
  speed?: number | null;
  instructions?: string | null;
}

/**
 * Reads the body of a request for speech.
 *
 * @throws InvalidRequestError naming the first field at fault
 */
export function parseSpeech(body: JsonBody): SpeechRequest {
  assertValid(validate, body.value);
  const fields = body.value as unknown as SpeechBody;
  const { input, voice } = fields;
  const instructions = fields.instructions ?? undefined;
  const speed = fields.speed ?? undefined;
  const isOwnVoice = typeof voice !== 'string';
  return {
    kind: 'speech',
    body,
    models: readModelChain(body.value),
    routing: readRoutingPreferences(body.value),
    stream: true,
    accountBoundParam: isOwnVoice
      ? notOnSharedCapacity('voice.id', 'it names a voice in the vendor account')
      : undefined,
    ...measure(input, instructions ?? '', speed ?? 1),
    text: input,
    voice: isOwnVoice ? voice.id : voice,
    instructions,
    format: fields.response_format ?? 'mp3',
    speed,
  };
}

function measure(
  input: string,
  instructions: string,
  speed: number,
): { ceiling: Usage; estimate: Usage } {
  const meter = new PromptMeter();
  meter.addText(input);
  meter.addText(instructions);
  const inputCharacters = countCodePoints(input);
  const known = { ...NO_USAGE, inputCharacters, inputBytes: Buffer.byteLength(input) };
  return {
    ceiling: {
      ...known,
      inputTokens: meter.size().tokens,
      audioMs: boundSpeechLength(input, speed),
    },
    estimate: {
      ...known,
      inputTokens: estimateTokens(inputCharacters + countCodePoints(instructions)),
      audioMs: estimateSpeechLength(input, speed),
    },
  };
}
