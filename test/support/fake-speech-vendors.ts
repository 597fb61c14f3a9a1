import type { ServerResponse } from 'node:http';
import type { RecordedCall, Script } from '../contract/scripted-server.js';

/** A vendor that rejects what the real one rejects and answers in its published shape. */
export interface FakeSpeechVendor {
  script: Script;
  /** The transcript of every recording, unless a test sets another. */
  transcript: readonly FakeWord[];
}

export interface FakeWord {
  text: string;
  start: number;
  end: number;
  speaker?: number;
}

export const HEARD: readonly FakeWord[] = [
  { text: 'Hello', start: 0.1, end: 0.4, speaker: 0 },
  { text: 'there.', start: 0.4, end: 0.8, speaker: 0 },
  { text: 'Good', start: 2.1, end: 2.3, speaker: 1 },
  { text: 'day!', start: 2.3, end: 2.5, speaker: 1 },
];

/** The fakes' speech, in any format. */
export const SPOKEN = Buffer.alloc(6_000, 3);

const HEADER_BYTES = 44;
const BYTES_A_SECOND = 16_000;

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly body: object,
  ) {
    super('refused');
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function say(response: ServerResponse, contentType: string): void {
  response.writeHead(200, { 'content-type': contentType });
  response.write(SPOKEN.subarray(0, 2_000));
  response.end(SPOKEN.subarray(2_000));
}

const refusing =
  (serve: Script): Script =>
  async (call, response) => {
    try {
      await serve(call, response);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      answer(response, error.status, error.body);
    }
  };

/** For the WAV files of the tests. */
const secondsOf = (bytes: number): number => (bytes - HEADER_BYTES) / BYTES_A_SECOND;

const ELEVEN_FORMAT =
  /^(?:mp3_(?:22050_32|24000_48|44100_(?:32|64|96|128|192))|opus_48000_(?:32|64|96|128|192)|(?:pcm|wav)_(?:8000|16000|22050|24000|32000|44100|48000)|[au]law_8000)$/;
const ELEVEN_MODELS = new Map([
  ['eleven_v3', 5_000],
  ['eleven_multilingual_v2', 10_000],
  ['eleven_flash_v2_5', 40_000],
]);
const ELEVEN_TYPES = [
  ['mp3', 'audio/mpeg'],
  ['opus', 'audio/ogg'],
  ['wav', 'audio/wav'],
] as const;

export function fakeElevenLabs(key: string): FakeSpeechVendor {
  const refused = (status: number, code: string, message: string): Refusal =>
    new Refusal(status, { detail: { status: code, message } });
  const invalid = (place: string, field: string): Refusal =>
    new Refusal(422, { detail: [{ loc: [place, field], msg: 'Input is wrong', type: 'value' }] });

  const speak = ({ path, body }: RecordedCall, response: ServerResponse): void => {
    const { pathname, searchParams } = new URL(path, 'http://fake');
    const [, voice = '', stream] = /^\/v1\/text-to-speech\/([^/]+)(\/stream)?$/.exec(pathname)!;
    const format = searchParams.get('output_format') ?? 'mp3_44100_128';
    if (!ELEVEN_FORMAT.test(format)) throw invalid('query', 'output_format');
    if (stream && format.startsWith('wav')) throw invalid('query', 'output_format');
    const { text, model_id, voice_settings, ...rest } = JSON.parse(body.toString()) as {
      text?: unknown;
      model_id?: string;
      voice_settings?: { speed?: number };
    };
    const [unknown] = Object.keys(rest);
    if (unknown) throw invalid('body', unknown);
    if (typeof text !== 'string' || text === '') throw invalid('body', 'text');
    const max = ELEVEN_MODELS.get(model_id ?? 'eleven_multilingual_v2');
    if (max === undefined) throw refused(400, 'model_not_found', `No model ${model_id}.`);
    if (text.length > max) throw refused(400, 'max_character_limit_exceeded', 'It is too long.');
    if (!/^[A-Za-z0-9]{20}$/.test(voice)) throw refused(404, 'voice_not_found', 'No such voice.');
    const { speed = 1 } = voice_settings ?? {};
    if (speed < 0.7 || speed > 1.2) throw refused(400, 'invalid_voice_settings', 'Wrong speed.');
    const type = ELEVEN_TYPES.find(([codec]) => format.startsWith(codec))?.[1];
    say(response, type ?? 'audio/pcm');
  };

  const FIELDS = new Set([
    ...['model_id', 'file', 'language_code', 'tag_audio_events', 'timestamps_granularity'],
    ...['diarize', 'temperature'],
  ]);
  const transcribe = async (call: RecordedCall, response: ServerResponse): Promise<void> => {
    const type = call.headers['content-type'] ?? '';
    const form = await new Response(new Uint8Array(call.body), {
      headers: { 'content-type': type },
    }).formData();
    for (const name of form.keys()) if (!FIELDS.has(name)) throw invalid('body', name);
    const file = form.get('file');
    const field = (name: string): string | undefined => {
      const value = form.get(name);
      return typeof value === 'string' ? value : undefined;
    };
    if (!(file instanceof File)) throw invalid('body', 'file');
    if (!/^scribe_v[12]$/.test(field('model_id') ?? '')) {
      throw refused(400, 'invalid_model_id', 'No such model.');
    }
    const isDiarized = field('diarize') === 'true';
    const isTimed = field('timestamps_granularity') !== 'none';
    const words = vendor.transcript.flatMap(({ text, start, end, speaker = 0 }, index) => {
      const who = { speaker_id: isDiarized ? `speaker_${speaker}` : null, logprob: -0.1 };
      const blank = { text: ' ', type: 'spacing', start, end: start, ...who };
      const word = { text, type: 'word', ...(isTimed && { start, end }), ...who };
      return index === 0 ? [word] : [blank, word];
    });
    answer(response, 200, {
      language_code: field('language_code') ?? 'eng',
      language_probability: 0.98,
      text: vendor.transcript.map(({ text }) => text).join(' '),
      words,
      audio_duration_secs: secondsOf(file.size),
      transcription_id: 'x1',
    });
  };

  const vendor: FakeSpeechVendor = {
    transcript: HEARD,
    script: refusing(async (call, response) => {
      if (call.headers['xi-api-key'] !== key) {
        throw refused(
          401,
          'invalid_api_key',
          `Invalid API key ${String(call.headers['xi-api-key'])}`,
        );
      }
      if (call.method === 'GET' && call.path === '/v1/models') {
        const models = [...ELEVEN_MODELS.keys()].map((id) => ({ model_id: id, name: id }));
        return answer(response, 200, models);
      }
      if (call.path.startsWith('/v1/text-to-speech/')) return speak(call, response);
      if (call.path === '/v1/speech-to-text') return transcribe(call, response);
      throw new Refusal(404, { detail: 'Not Found' });
    }),
  };
  return vendor;
}

/** Containers and sample rates that each encoding accepts; with an empty list, the vendor rejects the parameter. */
const DEEPGRAM_ENCODINGS: Readonly<Record<string, { containers: string[]; rates: string[] }>> = {
  linear16: { containers: ['wav', 'none'], rates: ['8000', '16000', '24000', '32000', '48000'] },
  mp3: { containers: [], rates: [] },
  opus: { containers: ['ogg'], rates: [] },
  flac: { containers: [], rates: ['8000', '16000', '22050', '32000', '48000'] },
  aac: { containers: [], rates: [] },
};
const DEEPGRAM_TYPES: Readonly<Record<string, string>> = {
  linear16: 'audio/wav',
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
};

export function fakeDeepgram(key: string): FakeSpeechVendor {
  const refused = (status: number, code: string, message: string): Refusal =>
    new Refusal(status, { err_code: code, err_msg: message, request_id: 'r1' });
  const known = (query: URLSearchParams, names: readonly string[]): void => {
    const unknown = [...query.keys()].find((name) => !names.includes(name));
    if (unknown) throw refused(400, 'Bad Request', `Unknown query parameter ${unknown}.`);
  };

  const speak = ({ body }: RecordedCall, query: URLSearchParams, response: ServerResponse) => {
    known(query, ['model', 'encoding', 'container', 'sample_rate', 'bit_rate', 'speed']);
    if (!/^aura(-2)?-(?!2-)[a-z]+-[a-z]{2}$/.test(query.get('model') ?? '')) {
      throw refused(400, 'INVALID_QUERY_PARAMETER', 'No such model/version combination found.');
    }
    const encoding = query.get('encoding') ?? 'mp3';
    const rules = DEEPGRAM_ENCODINGS[encoding];
    const [container, rate] = [query.get('container'), query.get('sample_rate')];
    const isRefused =
      !rules ||
      (container !== null && !rules.containers.includes(container)) ||
      (rate !== null && !rules.rates.includes(rate));
    if (isRefused) throw refused(400, 'UNSUPPORTED_AUDIO_FORMAT', 'Unsupported audio format.');
    const speed = Number(query.get('speed') ?? 1);
    if (speed < 0.7 || speed > 1.5) throw refused(400, 'SPEED_OUT_OF_RANGE', 'Wrong speed.');
    const { text, ...rest } = JSON.parse(body.toString()) as { text?: unknown };
    if (typeof text !== 'string' || Object.keys(rest).length > 0) {
      const details = 'Json deserialize error: missing field `text`';
      throw new Refusal(400, { category: 'INVALID_JSON', message: 'Invalid JSON.', details });
    }
    if (text.length > 2_000) throw refused(413, 'PAYLOAD_TOO_LARGE', 'The text is too long.');
    say(response, DEEPGRAM_TYPES[encoding]!);
  };

  const transcribe = (
    call: RecordedCall,
    query: URLSearchParams,
    response: ServerResponse,
  ): void => {
    known(query, ['model', 'smart_format', 'language', 'detect_language']);
    if (query.get('model') !== 'nova-3') throw refused(403, 'INSUFFICIENT_PERMISSIONS', 'No.');
    const language = query.get('language');
    if (language === 'tlh') {
      throw refused(400, 'Bad Request', 'No such model/language/tier combination found.');
    }
    if (!call.headers['content-type']?.startsWith('audio/')) {
      throw refused(400, 'Bad Request', 'failed to process audio: corrupt or unsupported data');
    }
    const words = vendor.transcript.map(({ text, start, end }) => ({
      word: text.toLowerCase().replace(/\W/g, ''),
      start,
      end,
      confidence: 0.99,
      punctuated_word: text,
    }));
    const transcript = vendor.transcript.map(({ text }) => text).join(' ');
    answer(response, 200, {
      metadata: {
        transaction_key: 'deprecated',
        request_id: 'r1',
        sha256: 'x',
        created: '2026-11-23T00:00:00.000Z',
        duration: secondsOf(call.body.length),
        channels: 1,
        models: ['m1'],
        model_info: {},
      },
      results: {
        channels: [
          {
            alternatives: [{ transcript, confidence: 0.99, words }],
            ...(query.get('detect_language') && { detected_language: 'en' }),
          },
        ],
      },
    });
  };

  const vendor: FakeSpeechVendor = {
    transcript: HEARD,
    script: refusing((call, response) => {
      const { authorization } = call.headers;
      if (authorization !== `Token ${key}`) {
        throw refused(401, 'INVALID_AUTH', `Invalid credentials ${authorization}.`);
      }
      const { pathname, searchParams } = new URL(call.path, 'http://fake');
      if (pathname === '/v1/auth/token') return answer(response, 200, { api_key_id: 'k1' });
      if (pathname === '/v1/speak') return speak(call, searchParams, response);
      if (pathname === '/v1/listen') return transcribe(call, searchParams, response);
      throw refused(404, 'NOT_FOUND', 'Not found.');
    }),
  };
  return vendor;
}
