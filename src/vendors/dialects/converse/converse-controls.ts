import type { CanonicalRequest } from '../../../canonical/canonical-request.js';
import { fieldName, type PromptField } from '../../../canonical/prompt-fields.js';
import type { JsonObject } from '../../../platform/http/json-body.js';
import { unsupported } from '../../unsupported.js';
import { continuesUnsealed } from './continues-unsealed.js';
import { converseReasoning, type ConverseReasoning } from './converse-reasoning.js';
import type { ConverseTraits } from './converse-traits.js';

/** A request's controls, apart from its tools, as one model takes them. */
export interface ConverseControls {
  inferenceConfig: JsonObject;
  /** For `additionalModelRequestFields`. */
  fields: JsonObject;
  reasoning: ConverseReasoning;
  requestMetadata?: Record<string, string>;
  /** Fields that were left out, as the caller spells them. */
  dropped: string[];
}

/** What the API takes as a value in `requestMetadata`. */
const METADATA_VALUE = /^[a-zA-Z0-9\s:_@$#=/+,.-]{1,256}$/;

/** @throws UpstreamError `unsupported` for a value that this model refuses */
export function converseControls(
  request: CanonicalRequest,
  traits: ConverseTraits,
  maxOutputTokens: number,
): ConverseControls {
  const { messages, sampling, reasoning: wish, endUser } = request.prompt();
  const name = (field: PromptField): string => fieldName(request.dialect, field);
  const dropped: string[] = [];
  const canThink = traits.reasoning.kind !== 'budget' || !continuesUnsealed(messages, traits);
  const reasoning = converseReasoning(wish, traits, { maxOutputTokens, canThink });
  if (reasoning.lost.has('reasoning')) dropped.push(name('reasoning'));
  if (reasoning.lost.has('budget')) dropped.push(budgetName(request));

  const inferenceConfig: JsonObject = { maxTokens: maxOutputTokens };
  const fields: JsonObject = { ...reasoning.fields };
  // Models that think refuse to have their sampling steered meanwhile.
  const { isThinking } = reasoning;

  const { temperature, topP, topK, stop } = sampling;
  if (temperature !== undefined) {
    if (traits.samplers === 'none' || isThinking) dropped.push(name('temperature'));
    else if (temperature > 1) {
      throw unsupported(name('temperature'), 'This model takes temperatures from 0 to 1.');
    } else inferenceConfig.temperature = temperature;
  }
  if (topP !== undefined) {
    const isSecond = traits.samplers === 'one' && temperature !== undefined;
    if (traits.samplers === 'none' || isThinking || isSecond) dropped.push(name('topP'));
    else inferenceConfig.topP = topP;
  }
  if (topK !== undefined) {
    if (traits.topK === 'none' || isThinking) dropped.push(name('topK'));
    else if (traits.topK === 'field') fields.top_k = topK;
    else fields.inferenceConfig = { topK };
  }
  if (stop !== undefined && stop.length > 0) {
    if (traits.stops === 'none') dropped.push(name('stop'));
    else if (traits.stops === 'not-blank' && stop.some((sequence) => sequence.trim() === '')) {
      throw unsupported(
        name('stop'),
        'This model takes no stop sequence that is white space only.',
      );
    } else inferenceConfig.stopSequences = stop;
  }
  const isNameable = endUser !== undefined && METADATA_VALUE.test(endUser);
  if (endUser !== undefined && !isNameable) dropped.push(name('endUser'));
  return {
    inferenceConfig,
    fields,
    reasoning,
    ...(isNameable && { requestMetadata: { end_user: endUser } }),
    dropped,
  };
}

function budgetName({ dialect }: CanonicalRequest): string {
  return dialect === 'messages' ? 'thinking.budget_tokens' : 'reasoning.max_tokens';
}
