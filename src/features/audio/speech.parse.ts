import {
  notOnSharedCapacity,
  readModelChain,
  readRoutingPreferences,
} from '../../canonical/routing-fields.js';
import { measureSpeech } from '../../canonical/measure-speech.js';
import type { SpeechRequest } from '../../canonical/work-request.js';
import type { JsonBody } from '../../platform/http/json-body.js';
import { assertValid, compileSchema } from '../../platform/http/validate-body.js';
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
    ...measureSpeech(input, instructions ?? '', speed ?? 1),
    text: input,
    voice: isOwnVoice ? voice.id : voice,
    instructions,
    format: fields.response_format ?? 'mp3',
    speed,
  };
}
