import type { CanonicalEvent } from '../../../src/canonical/canonical-event.js';
import type { CanonicalRequest } from '../../../src/canonical/canonical-request.js';
import { unsupportedFields } from '../../../src/canonical/prompt-fields.js';
import { NO_USAGE } from '../../../src/canonical/usage.js';
import type { ProviderConfig } from '../../../src/platform/config/app-config.js';
import type { HttpTransport } from '../../../src/vendors/transport/http-transport.js';
import type { UpstreamResponse } from '../../../src/vendors/transport/upstream-response.js';
import { UpstreamError, type UpstreamFailure } from '../../../src/vendors/upstream-error.js';
import type { ProbeCall, Upstream, UpstreamCall } from '../../../src/vendors/upstream.js';

const MAX_BYTES = 1024 * 1024;

/** One line of a streamed answer, or a whole answer. */
interface Saying {
  said?: string;
  why?: 'done' | 'enough';
  spent?: { heard: number; spoken: number };
}

/**
 * A made-up vendor with JSON lines instead of server-sent events, its own field names and one setting.
 * Shows what adding a vendor takes.
 */
export class ImaginaryAdapter implements Upstream {
  constructor(
    private readonly provider: ProviderConfig,
    private readonly transport: HttpTransport,
  ) {}

  droppedParams(request: CanonicalRequest): readonly string[] {
    return unsupportedFields(request, new Set(['temperature']));
  }

  async *generate(call: UpstreamCall): AsyncGenerator<CanonicalEvent> {
    const { request, upstreamModel, limits, signal } = call;
    const { messages, sampling } = request.prompt();
    const body = {
      mind: upstreamModel,
      mood: sampling.temperature,
      piecemeal: request.stream,
      heard: messages.map(({ role, parts }) => ({
        who: role,
        said: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
      })),
    };
    const response = await this.transport.call({
      method: 'POST',
      url: new URL(`${this.provider.baseUrl}/speak`),
      headers: this.headers(),
      body: Buffer.from(JSON.stringify(body)),
      limits,
      signal,
    });
    if (response.status !== 200) throw await readFailure(response);
    yield { type: 'start' };
    yield* readSayings(response);
  }

  async probe({ limits, signal }: ProbeCall): Promise<undefined> {
    const url = new URL(`${this.provider.baseUrl}/minds`);
    const headers = this.headers();
    const response = await this.transport.call({ method: 'GET', url, headers, limits, signal });
    if (response.status !== 200) throw await readFailure(response);
    response.drain();
  }

  private headers(): Record<string, string> {
    const { apiKey = '', settings } = this.provider;
    return { 'x-password': apiKey, 'x-district': settings.district ?? '' };
  }
}

/** Requires a reason to end for completeness. */
async function* readSayings(response: UpstreamResponse): AsyncGenerator<CanonicalEvent> {
  let rest = Buffer.alloc(0);
  let isFinished = false;
  for await (const chunk of response) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      const { said, why, spent } = parseSaying(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      if (said !== undefined) yield { type: 'text', choice: 0, text: said };
      if (spent) {
        const usage = { ...NO_USAGE, inputTokens: spent.heard, outputTokens: spent.spoken };
        yield { type: 'usage', usage };
      }
      if (why === undefined) continue;
      isFinished = true;
      yield { type: 'finish', choice: 0, reason: why === 'done' ? 'stop' : 'length' };
    }
  }
  if (!isFinished) throw new UpstreamError({ failure: 'cut', message: 'no reason to end' });
}

function parseSaying(line: Buffer): Saying {
  try {
    return JSON.parse(line.toString()) as Saying;
  } catch {
    throw new UpstreamError({ failure: 'unreadable', message: 'a line that is not JSON' });
  }
}

async function readFailure(response: UpstreamResponse): Promise<UpstreamError> {
  const { status } = response;
  const failures: Record<number, UpstreamFailure> = { 401: 'operator', 422: 'caller' };
  const failure = failures[status] ?? 'server';
  const complaint = (await response.readAll(MAX_BYTES)).toString();
  const message = failure === 'caller' ? complaint : `status ${status}`;
  return new UpstreamError({ failure, status, message });
}
