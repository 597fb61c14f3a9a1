/** 2.5 and 10 credits per token. */
export const PRICING = { prompt: '0.0000025', completion: '0.00001' };
/** Price of a minute of recording. */
export const CREDITS_PER_MINUTE = 6_000;
export const MAX_TOKENS = 32_000;

/** Returns the price of generated output in credits. */
export function priceOf({ input, made }) {
  return Math.ceil((input * 5 + made * 20) / 2);
}

/** @param quietUrl the neighbour's own vendor, which no attack keeps busy */
export const PROVIDERS = (url, quietUrl) => [
  { id: 'bench-quiet', name: 'Bench, quiet', base_url: `${quietUrl}/v1` },
  {
    id: 'bench',
    name: 'Bench',
    base_url: `${url}/v1`,
    settings: { responses: 'true' },
  },
  {
    id: 'bench-messages',
    name: 'Bench, messages',
    adapter: 'anthropic',
    type: 'anthropic',
    base_url: url,
  },
];

/** Returns a catalogue row. Each model has a separate route, whose speed the gateway measures. */
function chatModel(id, fields = {}) {
  return {
    id,
    pricing: PRICING,
    context_length: 200_000,
    max_completion_tokens: MAX_TOKENS,
    architecture: {
      modality: 'text+image+file->text',
      input_modalities: ['text', 'image', 'file'],
      output_modalities: ['text'],
      tokenizer: 'unknown',
    },
    ...fields,
  };
}

function withTimeouts(model, timeouts) {
  return { routes: [{ provider: 'bench', model, priority: 0, timeouts }] };
}

export const MODELS = [
  chatModel('bench-quiet/neighbour'),
  chatModel('bench/writer'),
  chatModel('bench/reasoner'),
  ...['near', 'far'].map((name) => chatModel(`bench/whole-${name}`)),
  chatModel('bench-messages/writer'),
  chatModel('bench/timed', withTimeouts('timed', { request_ms: 2_500 })),
  chatModel('bench/timed-whole', withTimeouts('timed-whole', { request_ms: 2_500 })),
  chatModel('bench/torrent', {
    ...withTimeouts('torrent', { request_ms: 4_000 }),
    context_length: 20_000_000,
    max_completion_tokens: 10_000_000,
  }),
  chatModel('bench/drained'),
  chatModel('bench/drained-whole'),
  chatModel('bench/maker'),
  chatModel('bench/liar'),
  chatModel('bench-messages/liar'),
  chatModel('bench/slow'),
  { id: 'bench/embed', kind: 'embedding', pricing: { prompt: '0.0000001' } },
  { id: 'bench/hear', kind: 'transcription', pricing: { audio_minute: '0.006' } },
];
