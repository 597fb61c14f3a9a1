import { webcrypto } from 'node:crypto';
import { isTextRequest } from '../../canonical/work-request.js';
import { traceInput } from '../tracing/input-messages.js';
import { answerMessages } from '../tracing/output-messages.js';
import type { MediaNote, RecordedTrace } from '../tracing/recorded-trace.js';
import {
  TextBudget,
  type BlobPart,
  type TraceMessage,
  type TracePart,
} from '../tracing/trace-message.js';

/** Stored characters of a prompt, and of an answer. */
const MAX_CHARACTERS = 128 * 1024;

/** Stored content of a request. Of media only the size and a hash. */
export interface RequestContent {
  readonly endpoint: string;
  readonly model: string;
  readonly prompt: {
    /** Instructions outside the conversation. */
    readonly instructions: readonly TracePart[];
    readonly messages: readonly TraceMessage[];
  };
  readonly answer: {
    readonly messages: readonly TraceMessage[];
    /** Generated media. */
    readonly media: readonly MediaNote[];
  };
  /** True when something was too long and cut. */
  readonly truncated: boolean;
}

/** Content with media still to be hashed. */
export interface ContentDraft {
  readonly content: RequestContent;
  readonly unhashed: readonly { readonly note: BlobPart; readonly base64: string }[];
  /** Approximate memory in bytes. */
  readonly weight: number;
}

/** Extracts the content of a finished request, retaining nothing else of it. */
export function draftContent(trace: RecordedTrace): ContentDraft {
  const { request, answer, endpoint, ending } = trace;
  const [input, output] = [new TextBudget(MAX_CHARACTERS), new TextBudget(MAX_CHARACTERS)];
  const unhashed: { note: BlobPart; base64: string }[] = [];
  let mediaBytes = 0;
  const { instructions, messages } = traceInput(request, input, (note, base64) => {
    unhashed.push({ note, base64 });
    mediaBytes += base64.length;
  });
  const answers = answerMessages(trace, output);
  const uploads = isTextRequest(request) ? [] : uploadsOf(request);
  const content: RequestContent = {
    endpoint,
    model: ending.model,
    prompt: { instructions, messages: [...messages, ...uploads] },
    answer: { messages: answers, media: answer.takeMedia() },
    truncated: input.isSpent || output.isSpent || answer.isTruncated,
  };
  return { content, unhashed, weight: input.taken * 2 + output.taken * 2 + mediaBytes + 1_000 };
}

/** Returns uploaded files, which were on disk and are deleted by now. */
function uploadsOf(request: object): TraceMessage[] {
  const images: unknown[] =
    'images' in request && Array.isArray(request.images) ? request.images : [];
  const files = [
    'audio' in request ? request.audio : undefined,
    ...images,
    'mask' in request ? request.mask : undefined,
  ].filter(isUpload);
  if (files.length === 0) return [];
  const parts = files.map(({ contentType, sizeBytes }): TracePart => {
    const modality = contentType.split('/')[0] ?? '';
    const blob = { type: 'blob', modality, mime_type: contentType, content: '' } as const;
    return { ...blob, omitted: true, bytes: sizeBytes, sha256: null };
  });
  return [{ role: 'user', parts }];
}

function isUpload(value: unknown): value is { contentType: string; sizeBytes: number } {
  return typeof value === 'object' && value !== null && 'sizeBytes' in value;
}

/** Hashes media in other threads and returns the JSON to store. */
export async function finishContent({ content, unhashed }: ContentDraft): Promise<string> {
  for (const { note, base64 } of unhashed) {
    const digest = await webcrypto.subtle.digest('SHA-256', Buffer.from(base64, 'base64'));
    note.sha256 = Buffer.from(digest).toString('hex');
  }
  return JSON.stringify(content);
}

/** Returns the texts in which a guardrail may have found something. */
export function textsOf(content: RequestContent, direction: 'input' | 'output'): string[] {
  const { prompt, answer } = content;
  const messages = direction === 'input' ? prompt.messages : answer.messages;
  const parts = messages.flatMap((message) => message.parts);
  return (direction === 'input' ? [...prompt.instructions, ...parts] : parts).flatMap((part) => {
    switch (part.type) {
      case 'text':
      case 'reasoning':
      case 'refusal':
        return [part.content];
      case 'tool_call':
        return [part.arguments];
      case 'tool_call_response':
        return [part.response];
      default:
        return [];
    }
  });
}
