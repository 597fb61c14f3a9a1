/** Request paths used by tests. */
export const CHAT = '/v1/chat/completions';
export const MESSAGES = '/v1/anthropic/messages';
export const RESPONSES = '/v1/responses';
export const GUARDRAILS = '/v1/customer/guardrails';
export const CREDENTIALS = '/v1/customer/provider-credentials';
