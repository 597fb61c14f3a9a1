import type { Dialect } from '../../../canonical/canonical-request.js';
import { fieldName, type PromptField } from '../../../canonical/prompt-fields.js';
import { UpstreamError } from '../../upstream-error.js';

/** Fields of this dialect that other dialects spell differently. */
const FIELDS: Record<string, PromptField> = {
  stop_sequences: 'stop',
  metadata: 'endUser',
  thinking: 'reasoning',
  'output_config.effort': 'reasoning',
  'output_config.format': 'responseFormat',
  tool_choice: 'toolChoice',
};

/**
 * The vendor's verdict with the field at fault as the caller spells it. Places within a field are
 * those of the translation and would mislead a caller of another dialect.
 */
export function nameCallerParam(error: UpstreamError, dialect: Dialect): UpstreamError {
  const { failure, message, status, retryAfterMs, param } = error;
  if (param === undefined || dialect === 'messages') return error;
  return new UpstreamError(
    { failure, message, status, retryAfterMs, param: translate(param, dialect) },
    { cause: error.cause },
  );
}

function translate(param: string, dialect: Dialect): string {
  const [top = param, second] = param.split('.');
  const field = FIELDS[`${top}.${second}`] ?? FIELDS[top];
  if (field) return fieldName(dialect, field);
  if (top === 'system') return 'messages';
  return top === 'max_tokens' && dialect === 'responses' ? 'max_output_tokens' : top;
}
