import type { CanonicalEvent } from '../../canonical/canonical-event.js';
import {
  isRelayed,
  type CanonicalRequest,
  type Dialect,
} from '../../canonical/canonical-request.js';
import type {
  MediaRequest,
  Transcript,
  TranscriptionRequest,
  AudioPiece,
  SpeechRequest,
  EmbeddingRequest,
  EmbeddingVectors,
  EditedImages,
  ImageEditRequest,
} from '../../canonical/work-request.js';
import type { ProviderConfig } from '../../platform/config/app-config.js';
import { AudioClient, type SpeechTraits } from '../dialects/audio/audio-client.js';
import { ChatClient } from '../dialects/chat/chat-client.js';
import { isPrefill } from '../dialects/chat/chat-prefill.js';
import type { OutputLimitField } from '../dialects/chat/chat-quirks.js';
import { EmbeddingsClient } from '../dialects/embeddings/embeddings-client.js';
import { ImagesClient } from '../dialects/images/images-client.js';
import { withinNetwork } from '../dialects/own-network.js';
import { ResponsesClient, UNKNOWN_ADDRESS } from '../dialects/responses/responses-client.js';
import { VideosClient } from '../dialects/videos/videos-client.js';
import type { MediaProgress } from '../media-work.js';
import type { HttpTransport } from '../transport/http-transport.js';
import type { MediaFetcher } from '../transport/media-fetcher.js';
import { UpstreamError } from '../upstream-error.js';
import type {
  DroppingRoute,
  OperationCall,
  ProbeCall,
  Probed,
  Upstream,
  UpstreamCall,
  UpstreamWork,
  WorkCall,
} from '../upstream.js';

/** OpenAI's models that reject a reasoning effort. */
export const NEVER_REASONS = /^(?:ft:)?(?:gpt-3|gpt-4|chatgpt-)/;

const VENDORS_HOST = /(?:^|\.)api\.openai\.com$/;

/** Image models that always return bytes and reject the option. */
const GIVES_BYTES = /^(?:gpt-image|chatgpt-image)/;

/** OpenAI and every server with its API. */
export class OpenAiAdapter implements Upstream {
  /** True for OpenAI itself, on its own network, rather than a compatible server. */
  private readonly isVendor: boolean;
  private readonly chat: ChatClient;
  private readonly audio: AudioClient;
  private readonly responses: ResponsesClient | undefined;
  private readonly embeddings: EmbeddingsClient;
  private readonly images: ImagesClient;
  private readonly videos: VideosClient;

  /** @param mediaFetcher downloads linked media: a vendor's images, and those of prompts */
  constructor(
    provider: ProviderConfig,
    transport: HttpTransport,
    private readonly mediaFetcher?: MediaFetcher,
  ) {
    const { baseUrl, apiKey, knownFieldsOnly, settings } = provider;
    this.isVendor = VENDORS_HOST.test(new URL(baseUrl).hostname);
    const chatUrl = new URL(`${baseUrl}/chat/completions`);
    const authorization: Record<string, string> =
      apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    this.chat = new ChatClient(
      {
        chatUrl: () => chatUrl,
        modelsUrl: new URL(`${baseUrl}/models`),
        authorization,
        apiKey,
        outputLimitField: outputLimitFieldOf(provider),
        neverReasons: provider.id === 'openai' ? NEVER_REASONS : undefined,
        knownFieldsOnly,
        prefill: isPrefill(settings.prefill) ? settings.prefill : undefined,
      },
      transport,
    );
    this.audio = new AudioClient(
      {
        speechUrl: new URL(`${baseUrl}/audio/speech`),
        transcriptionsUrl: new URL(`${baseUrl}/audio/transcriptions`),
        translationsUrl: new URL(`${baseUrl}/audio/translations`),
        authorization,
        apiKey,
        speechTraits: speechTraitsOf,
        givesSegments: (upstreamModel) => upstreamModel.includes('whisper'),
      },
      transport,
    );
    const embeddingsUrl = new URL(`${baseUrl}/embeddings`);
    this.embeddings = new EmbeddingsClient(
      { embeddingsUrl: () => embeddingsUrl, authorization, apiKey, knownFieldsOnly },
      transport,
    );
    const imagesUrl = new URL(`${baseUrl}/images/generations`);
    this.images = new ImagesClient(
      {
        imagesUrl: () => imagesUrl,
        editUrl: (task) => new URL(`${baseUrl}/images/${task}s`),
        asksForBytes: (upstreamModel) => !GIVES_BYTES.test(upstreamModel),
        authorization,
        apiKey,
      },
      transport,
      mediaFetcher,
    );
    const videosUrl = new URL(`${baseUrl}/videos`);
    this.videos = new VideosClient(
      { videosUrl, authorization, apiKey, pollAfterHeader: 'openai-poll-after-ms' },
      transport,
    );
    if (hasResponses(provider)) {
      const responsesUrl = new URL(`${baseUrl}/responses`);
      const countUrl = new URL(`${baseUrl}/responses/input_tokens`);
      this.responses = new ResponsesClient(
        { responsesUrl, countUrl, authorization, apiKey, knownFieldsOnly },
        transport,
      );
    }
  }

  runsWebSearch(dialect: Dialect): boolean {
    if (dialect === 'responses') return this.responses !== undefined && !this.responses.isMissing;
    return dialect === 'chat';
  }

  passesTier(dialect: Dialect): boolean {
    return this.runsWebSearch(dialect);
  }

  /** Depends on the settings: most servers answer such a message instead. */
  continuesPrefill(request: CanonicalRequest): boolean {
    return this.chat.continuesPrefill(request);
  }

  droppedParams(request: CanonicalRequest, route: DroppingRoute): readonly string[] {
    return this.clientFor(request).droppedParams(request, route);
  }

  generate(call: UpstreamCall): AsyncIterable<CanonicalEvent> {
    if (this.isVendor) return this.answer(call);
    return withinNetwork(call.request, this.mediaFetcher, () => this.answer(call));
  }

  private answer(call: UpstreamCall): AsyncIterable<CanonicalEvent> {
    const { responses } = this;
    return responses && this.clientFor(call.request) === responses
      ? this.tryResponses(responses, call)
      : this.chat.generate(call);
  }

  async countTokens(call: UpstreamCall): Promise<number | undefined> {
    const { responses } = this;
    if (!responses || this.clientFor(call.request) !== responses) return undefined;
    return responses.countTokens(call);
  }

  speak(call: WorkCall<SpeechRequest>): UpstreamWork<AudioPiece> {
    return this.audio.speak(call);
  }

  transcribe(call: WorkCall<TranscriptionRequest>): UpstreamWork<Transcript> {
    return this.audio.transcribe(call);
  }

  embed(call: WorkCall<EmbeddingRequest>): UpstreamWork<EmbeddingVectors> {
    return this.embeddings.embed(call);
  }

  editImages(call: WorkCall<ImageEditRequest>): UpstreamWork<EditedImages> {
    return this.images.edit(call);
  }

  /** Drops nothing for images and video, where unsupported fields are rejected. Speech is as in `speak`. */
  droppedMediaParams(request: MediaRequest, upstreamModel: string): readonly string[] {
    return request.kind === 'speech' ? this.audio.droppedParams(request, upstreamModel) : [];
  }

  submitMedia(call: WorkCall<MediaRequest>): Promise<MediaProgress> {
    const { request } = call;
    switch (request.kind) {
      case 'image':
        return this.images.submit({ ...call, request });
      case 'video':
        return this.videos.submit({ ...call, request });
      case 'speech':
        return this.audio.submitSpeech({ ...call, request });
    }
  }

  pollMedia(call: OperationCall): Promise<MediaProgress> {
    return this.videos.poll(call);
  }

  cancelMedia(call: OperationCall): Promise<void> {
    return this.videos.cancel(call);
  }

  probe(call: ProbeCall): Promise<Probed> {
    return this.chat.probe(call);
  }

  /** Falls back to chat completions, because a compatible server may support nothing else. */
  private async *tryResponses(
    responses: ResponsesClient,
    call: UpstreamCall,
  ): AsyncGenerator<CanonicalEvent> {
    try {
      yield* responses.generate(call);
    } catch (error) {
      // Such a status comes before anything has been yielded.
      const isUnknown = error instanceof UpstreamError && UNKNOWN_ADDRESS.has(error.status);
      if (!isUnknown || !responses.isMissing) throw error;
      yield* this.chat.generate(call);
    }
  }

  /**
   * Chooses the wire format of a request; the only place that does. Responses can only be relayed, so those
   * whose answer must be decoded are sent as chat.
   */
  private clientFor(request: CanonicalRequest): Pick<Upstream, 'droppedParams' | 'generate'> {
    const { responses } = this;
    if (!responses || responses.isMissing || !isRelayed(request, 'responses')) return this.chat;
    return responses;
  }
}

/** The first speech models accept no instructions and no long text, and are billed by the character. */
function speechTraitsOf(upstreamModel: string): SpeechTraits {
  const isEarly = /^tts-1(?:-|$)/.test(upstreamModel);
  const isVendorsOwn = isEarly || upstreamModel.startsWith('gpt-');
  return {
    takesInstructions: !isEarly,
    isBilledByLength: !isEarly,
    maxCharacters: isVendorsOwn ? 4_096 : undefined,
  };
}

/** OpenAI itself has the Responses API; compatible servers declare it in their settings. */
function hasResponses({ id, settings }: ProviderConfig): boolean {
  return settings.responses === undefined ? id === 'openai' : settings.responses === 'true';
}

/** OpenAI itself requires the new name; compatible servers get the old one unless their settings differ. */
function outputLimitFieldOf({ id, settings }: ProviderConfig): OutputLimitField {
  const { outputLimitField } = settings;
  if (outputLimitField === 'max_tokens' || outputLimitField === 'max_completion_tokens') {
    return outputLimitField;
  }
  return id === 'openai' ? 'max_completion_tokens' : 'max_tokens';
}
