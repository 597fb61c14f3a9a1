import { describe, expect, it } from '@jest/globals';
import { isPromptTooLong, redactKeyLike } from './failed-answer.js';

describe(isPromptTooLong.name, () => {
  it.each([
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    'Your input exceeds the context window of this model.',
    'Input tokens exceed the configured limit of 272000 tokens.',
    "However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996.",
    'The decoder prompt (length 9005) is longer than the maximum model length of 8192.',
    "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    'the request exceeds the available context size, try increasing it',
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    'invalid params, context window exceeds limit',
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    'prompt is too long: 210000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000',
    'Input is too long for requested model.',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    'Please reduce the length of the messages or completion.',
    'Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)',
    'prompt token count of 130000 exceeds the limit of 128000',
    'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens',
    '`inputs` must have less than 1024 tokens. Given: 1500',
    'Range of input length should be [1, 30720]',
    'Prompt exceeds max length',
  ])('returns true for: %s', (message) => {
    expect(isPromptTooLong(message)).toBe(true);
  });

  it.each([
    'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.',
    'max_tokens exceeds the limit of 8192',
    'Range of max_tokens should be [1, 8192]',
    'Rate limit reached: too many tokens per minute',
    "Invalid 'messages[0].name': string too long. Expected a string with maximum length 64.",
    "Invalid 'stop': array too long.",
    'The prompt was refused.',
    'status 400',
    '',
  ])('returns false for: %s', (message) => {
    expect(isPromptTooLong(message)).toBe(false);
  });
});

describe(redactKeyLike.name, () => {
  it.each([
    ['invalid sk-ant-api03-abcdefgh1234.', 'invalid [redacted]'],
    ['Bearer abcdef.ghijkl', '[redacted]'],
    ['x AIzaSyA-1234567890abcdefghij y', 'x [redacted] y'],
    ['the field key_parameters is unknown', 'the field key_parameters is unknown'],
    ['temperature: too high', 'temperature: too high'],
  ])('turns %j into %j', (text, hidden) => {
    expect(redactKeyLike(text)).toBe(hidden);
  });

  it('handles texts as long as a streamed error may be', () => {
    expect(redactKeyLike(`sk-${'a'.repeat(30_000_000)}`)).toBe('[redacted]');
  });
});
