import { NO_USAGE, type Usage } from '../../../canonical/usage.js';
import { isJsonObject, type JsonObject } from '../../../platform/http/json-body.js';
import { MediaFailedError } from '../../media-work.js';
import { UpstreamError } from '../../upstream-error.js';
import { parseChatObject } from '../chat/parse-chat-object.js';
import { hideVendorKeys } from '../hide-vendor-keys.js';

const MAX_MESSAGE_LENGTH = 1_000;
const MAX_SECONDS = 86_400;
/** Ids stand in addresses. */
const ID = /^\w[\w.~:=-]{0,499}$/;

/** A vendor's word on a video. */
export interface Video {
  id: string;
  isCompleted: boolean;
  /** Of its length; undefined where the vendor does not say. */
  usage: Usage | undefined;
}

/**
 * Reads a `video` object. A status that nobody knows counts as one on the way.
 *
 * @throws MediaFailedError for a video that has failed; UpstreamError `unreadable` for what is none
 */
export function readVideo(bytes: Buffer): Video {
  const video = parseChatObject(bytes.toString('utf8'), 'a video');
  const { id, status } = video;
  if (typeof id !== 'string' || !ID.test(id) || typeof status !== 'string') {
    throw new UpstreamError({ failure: 'unreadable', message: 'a video without id or status' });
  }
  if (status === 'failed' || status === 'cancelled' || status === 'canceled') throw failed(video);
  return { id, isCompleted: status === 'completed', usage: readUsage(video.seconds) };
}

function failed({ error, status }: JsonObject): MediaFailedError {
  const { code, message } = isJsonObject(error) ? error : ({} as JsonObject);
  return new MediaFailedError(
    typeof code === 'string' && code !== '' ? code.slice(0, 100) : 'provider_error',
    typeof message === 'string' && message !== ''
      ? hideVendorKeys(message).slice(0, MAX_MESSAGE_LENGTH)
      : `The provider says that the video is ${String(status)}.`,
  );
}

function readUsage(given: unknown): Usage | undefined {
  const seconds = typeof given === 'string' && given !== '' ? Number(given) : given;
  if (typeof seconds !== 'number' || !(seconds > 0) || seconds > MAX_SECONDS) return undefined;
  return { ...NO_USAGE, videoSeconds: Math.ceil(seconds) };
}
