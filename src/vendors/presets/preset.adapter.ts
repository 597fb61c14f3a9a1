import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import type { CanonicalRequest, Dialect } from '../../canonical/canonical-request.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { parseAnswerObject } from '../dialects/answer-json.js';
import { AudioClient } from '../dialects/audio/audio-client.js';
import { ChatClient } from '../dialects/chat/chat-client.js';
import { QuirkTable, type ChatQuirks } from '../dialects/chat/chat-quirks.js';
import { classifyChatError } from '../dialects/chat/classify-chat-error.js';
import { EmbeddingsClient } from '../dialects/embeddings/embeddings-client.js';
import { readFailedAnswer } from '../dialects/failed-answer.js';
import { EMBEDDINGS_FIELDS } from '../dialects/known-fields.js';
import { withinNetwork } from '../dialects/own-network.js';
import type { HttpTransport } from '../transport/http-transport.js';
import type { MediaFetcher } from '../transport/media-fetcher.js';
import type {
  DroppingRoute,
  ProbeCall,
  Probed,
  ServedModel,
  Upstream,
  UpstreamCall,
} from '../upstream.js';
import type { Preset } from './preset.js';
import { readServedModels } from './served-models.js';

type PresetTraits = Pick<Preset, 'kinds' | 'local' | 'quirks' | 'embeddings_refuse'>;

/** Larger than any server's model list. */
const MAX_LIST_BYTES = 8_000_000;

/** A vendor with the API of the chat dialect, except for its quirks. */
export class PresetAdapter implements Upstream {
  readonly embed?: NonNullable<Upstream['embed']>;
  readonly transcribe?: NonNullable<Upstream['transcribe']>;
  readonly servedModels?: NonNullable<Upstream['servedModels']>;
  readonly keyIs?: 'unproven';
  private readonly chat: ChatClient;
  private readonly quirks: QuirkTable;

  private readonly isOwnServer: boolean;

  constructor(
    { kinds, local, quirks = {}, embeddings_refuse: refused = [] }: PresetTraits,
    { baseUrl, apiKey }: ProviderConfig,
    transport: HttpTransport,
    private readonly mediaFetcher?: MediaFetcher,
  ) {
    this.isOwnServer = local !== undefined;
    const at = (path: string): URL => new URL(baseUrl + path);
    const authorization: Record<string, string> =
      apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    const server = { authorization, apiKey, knownFieldsOnly: true };
    const chatUrl = at('/chat/completions');
    this.quirks = new QuirkTable(quirks);
    if (quirks.provesKey === false) this.keyIs = 'unproven';
    this.chat = new ChatClient(
      {
        ...server,
        chatUrl: () => chatUrl,
        modelsUrl: at(quirks.modelsPath ?? '/models'),
        outputLimitField: limitFieldOf(quirks),
        quirks: this.quirks,
        prefill: quirks.prefill,
        prefillUrl: quirks.prefillAt && at(quirks.prefillAt.path),
      },
      transport,
    );
    if (kinds.includes('embedding')) {
      const embeddingsUrl = at('/embeddings');
      const fields = new Set([...EMBEDDINGS_FIELDS].filter((field) => !refused.includes(field)));
      const client = new EmbeddingsClient(
        { ...server, embeddingsUrl: () => embeddingsUrl, fields },
        transport,
      );
      this.embed = (call) => client.embed(call);
    }
    if (local !== undefined) {
      const shown = new Map<string, ServedModel>();
      this.servedModels = (call) =>
        readServedModels(
          local,
          async (path, body) => {
            const url = path.startsWith('/') ? new URL(path, baseUrl) : at(`/${path}`);
            const response = await transport.call({
              method: body ? 'POST' : 'GET',
              url,
              headers: { ...authorization, 'content-type': 'application/json' },
              ...(body && { body: Buffer.from(JSON.stringify(body)) }),
              limits: call.limits,
              signal: call.signal,
            });
            if (response.status !== 200) throw await readFailedAnswer(response, classifyChatError);
            const text = (await response.readAll(MAX_LIST_BYTES)).toString('utf8');
            return parseAnswerObject(text, 'a list of models');
          },
          shown,
        );
    }
    if (kinds.includes('transcription')) {
      const client = new AudioClient(
        {
          ...server,
          speechUrl: at('/audio/speech'),
          transcriptionsUrl: at('/audio/transcriptions'),
          translationsUrl: at('/audio/translations'),
          speechTraits: () => ({
            takesInstructions: false,
            isBilledByLength: false,
            maxCharacters: undefined,
          }),
          givesSegments: (upstreamModel) => upstreamModel.includes('whisper'),
        },
        transport,
      );
      this.transcribe = (call) => client.transcribe(call);
    }
  }

  runsWebSearch(dialect: Dialect): boolean {
    return dialect === 'chat' && this.quirks.fields.has('web_search_options');
  }

  passesTier(dialect: Dialect): boolean {
    return dialect === 'chat' && this.quirks.fields.has('service_tier');
  }

  continuesPrefill(request: CanonicalRequest): boolean {
    return this.chat.continuesPrefill(request);
  }

  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[] {
    return this.chat.droppedParams(request, route);
  }

  generate(call: UpstreamCall): AsyncIterable<CanonicalEvent> {
    if (!this.isOwnServer) return this.chat.generate(call);
    return withinNetwork(call.request, this.mediaFetcher, () => this.chat.generate(call));
  }

  probe(call: ProbeCall): Promise<Probed> {
    return this.chat.probe(call);
  }
}

function limitFieldOf({
  outputLimitField = 'max_tokens',
}: ChatQuirks): 'max_tokens' | 'max_completion_tokens' {
  return outputLimitField;
}
