import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { WorkEvent } from '../../canonical/canonical-event.js';
import type {
  EditedImages,
  ImageEditRequest,
  ImageRequest,
  VideoRequest,
} from '../../canonical/work-request.js';
import { NO_USAGE } from '../../canonical/usage.js';
import { isJsonObject } from '../../platform/http/json-body.js';
import { fileOfBytes } from '../dialects/media/media-file.js';
import {
  MediaFailedError,
  type MediaResult,
  type MediaFile,
  type MediaProgress,
} from '../media-work.js';
import { CallAbortedError } from '../transport/upstream-response.js';
import { UpstreamError } from '../upstream-error.js';
import type { OperationCall, WorkCall } from '../upstream.js';
import { makeVideo } from './make-video.js';
import { makeImage } from './make-image.js';
import { simulateFault } from './simulate-fault.js';

const SIZE = /^([1-9]\d{0,3})x([1-9]\d{0,3})$/;
const MAX_SIDE = 4_096;
const MAX_IMAGES = 10;
const MAX_SECONDS = 60;
const DEFAULT_SECONDS = 4;
const DEFAULT_PICTURE = { width: 1_024, height: 1_024 };
const DEFAULT_FILM = { width: 1_280, height: 720 };
/** Time until a video is ready, so that polling can be tested too. */
const VIDEO_DELAY_MS = 1_000;
const POLL_AFTER_MS = 300;
const TITLE_LENGTH = 60;

export const SANDBOX_IMAGE_FIELDS: ReadonlySet<string> = new Set(['n', 'size']);
export const SANDBOX_VIDEO_FIELDS: ReadonlySet<string> = new Set(['seconds', 'size']);

/** Draws images of stripes. @throws UpstreamError for unsupported options and simulated faults */
export async function drawImages(call: WorkCall<ImageRequest>): Promise<MediaResult> {
  const { request, upstreamModel, signal } = call;
  const fault = faultOf(upstreamModel);
  if (fault === 'refused') throw refused();
  if (fault !== undefined) return simulateFault(fault, call);
  if (request.count > MAX_IMAGES) {
    throw caller('n', `\`n\` must be at most ${MAX_IMAGES} for the sandbox.`);
  }
  const size = sizeOf(request.body.value.size, DEFAULT_PICTURE);
  const files: MediaFile[] = [];
  for (let index = 0; index < request.count; index++) {
    if (signal.aborted) throw new CallAbortedError();
    const subject = `${index}:${request.prompt}`;
    files.push(fileOfBytes(await makeImage({ ...size, subject }), 'image/png'));
  }
  return { state: 'done', files, usage: { ...NO_USAGE, imageCount: files.length } };
}

/** Answers image edits with new images. */
export async function* redrawImages(
  call: WorkCall<ImageEditRequest>,
): AsyncGenerator<WorkEvent<EditedImages>> {
  const { files, usage } = await drawImages(call);
  const images: string[] = [];
  for (const { bytes } of files) images.push((await buffer(bytes)).toString('base64'));
  if (usage) yield { type: 'usage', usage };
  yield { type: 'output', output: { images, usage: undefined } };
}

/** The parameters of a video, encoded in its id because the sandbox stores nothing. */
interface VideoPlan {
  seconds: number;
  width: number;
  height: number;
  title: string;
  readyAtMs: number;
  /** The simulated failure, if any. */
  fault?: string;
  /** Digest of the request, so that each gets its own video. */
  digest: string;
}

/** Accepts a video. @throws UpstreamError for unsupported options and simulated faults */
export async function submitVideo(call: WorkCall<VideoRequest>): Promise<MediaProgress> {
  const { request, upstreamModel } = call;
  const fault = faultOf(upstreamModel);
  if (fault !== undefined && !LATE_FAULTS.has(fault)) return simulateFault(fault, call);
  const { seconds = DEFAULT_SECONDS, prompt } = request;
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > MAX_SECONDS) {
    throw caller(
      'seconds',
      `\`seconds\` must be an integer from 1 to ${MAX_SECONDS} for the sandbox.`,
    );
  }
  const plan: VideoPlan = {
    seconds,
    ...sizeOf(request.body.value.size, DEFAULT_FILM),
    title: `Sandbox film: ${prompt.slice(0, TITLE_LENGTH)}`.toWellFormed(),
    readyAtMs: Date.now() + VIDEO_DELAY_MS,
    ...(fault !== undefined && { fault }),
    digest: createHash('sha256').update(prompt).digest('base64url').slice(0, 16),
  };
  return running(`film_${Buffer.from(JSON.stringify(plan)).toString('base64url')}`);
}

/** Faults that occur after the video was accepted. */
const LATE_FAULTS: ReadonlySet<string> = new Set(['failed', 'refused', 'stuck']);

/** Polls a video. @throws MediaFailedError for simulated failures; UpstreamError for an unknown id */
export function pollVideo({ operation }: OperationCall): MediaProgress {
  const { seconds, width, height, title, readyAtMs, fault } = readPlan(operation);
  if (fault === 'stuck' || Date.now() < readyAtMs) return running(operation);
  if (fault === 'refused') throw refused();
  if (fault === 'failed') {
    throw new MediaFailedError('sandbox_fault', 'Sandbox: simulated failure of a video.');
  }
  const film = makeVideo({ seconds, width, height, title });
  return {
    state: 'done',
    files: [fileOfBytes(film, 'video/mp4')],
    usage: { ...NO_USAGE, videoSeconds: seconds },
  };
}

function running(operation: string): MediaProgress {
  return { state: 'running', operation, pollAfterMs: POLL_AFTER_MS };
}

function readPlan(operation: string): VideoPlan {
  try {
    const plan: unknown = JSON.parse(Buffer.from(operation.slice(5), 'base64url').toString());
    if (operation.startsWith('film_') && isVideoPlan(plan)) return plan;
  } catch {
    // Falls through: whatever it is, no film is called so.
  }
  throw new UpstreamError({ failure: 'operator', message: 'sandbox: unknown video', status: 404 });
}

function isVideoPlan(plan: unknown): plan is VideoPlan {
  if (!isJsonObject(plan)) return false;
  const { seconds, width, height, title, readyAtMs } = plan;
  return [seconds, width, height, readyAtMs].every(Number.isFinite) && typeof title === 'string';
}

function sizeOf(
  size: unknown,
  usual: { width: number; height: number },
): { width: number; height: number } {
  if (size == null || size === 'auto') return usual;
  const [, width, height] = (typeof size === 'string' && SIZE.exec(size)) || [];
  if (Number(width) <= MAX_SIDE && Number(height) <= MAX_SIDE) {
    return { width: Number(width), height: Number(height) };
  }
  throw caller(
    'size',
    `\`size\` must be at most ${MAX_SIDE}x${MAX_SIDE} for the sandbox, for example 640x480.`,
  );
}

function faultOf(upstreamModel: string): string | undefined {
  return /^(?:image|video)-fault-(.+)$/.exec(upstreamModel)?.[1];
}

function refused(): MediaFailedError {
  return new MediaFailedError(
    'content_policy_violation',
    "Sandbox: simulated refusal by a vendor's content filter.",
  );
}

function caller(param: string, message: string): UpstreamError {
  return new UpstreamError({ failure: 'caller', message, param });
}
