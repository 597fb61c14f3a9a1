import type { UploadedAudio } from '../../canonical/work-request.js';
import {
  AUDIO_CONTAINERS,
  sniffAudioContainer,
  type AudioContainer,
} from '../../platform/audio/audio-formats.js';
import { measureAudioFile, type MeasuredLength } from '../../platform/audio/measure-audio.js';
import { hasFurtherSamples, readWaveHeader, waveLengthMs } from '../../platform/audio/wave-file.js';
import { InvalidRequestError } from '../../platform/errors/gateway-errors.js';
import { readHead, type ReceivedFile } from '../../platform/http/receive-form.js';

const HEAD_BYTES = 64 * 1024;
const MAX_NAME_LENGTH = 100;

/** Streamed recordings may lack a length. */
const MAY_LACK_LENGTH: ReadonlySet<AudioContainer> = new Set(['mp4', 'ogg', 'webm']);

/**
 * Identifies an uploaded file by content, not by name.
 * @throws InvalidRequestError (`file`) for an empty file, a file that is not audio, or a
 * misleading extension
 */
export async function identifyAudio(file: ReceivedFile): Promise<UploadedAudio> {
  const { path, sizeBytes } = file;
  if (sizeBytes === 0) throw refuse('The file is empty.');
  const head = await readHead(file, HEAD_BYTES);
  const container = sniffAudioContainer(head);
  if (container === undefined) {
    throw refuse('The file must be flac, mp3, mp4, m4a, ogg, wav or webm audio.');
  }
  const fileName = nameOf(file.fileName, container);
  const length =
    container === 'wav'
      ? await measureWave(head, file)
      : await measureAudioFile(path, container, sizeBytes);
  if (length === undefined && !MAY_LACK_LENGTH.has(container)) {
    throw refuse(`The file looks like ${container} audio but contains no readable audio.`);
  }
  const { contentType } = AUDIO_CONTAINERS[container];
  const { ms: durationMs, isClaimed: isLengthClaimed = false } = length ?? {};
  return { path, sizeBytes, fileName, contentType, durationMs, isLengthClaimed };
}

/** Vendors rely on the extension, so add a missing one. */
function nameOf(fileName: string, container: AudioContainer): string {
  const { extensions } = AUDIO_CONTAINERS[container];
  const name = fileName.replaceAll(/[^\p{L}\p{N}._ -]/gu, '_').slice(-MAX_NAME_LENGTH) || 'audio';
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase();
  if (extension === undefined) return `${name}.${extensions[0]}`;
  if (extensions.includes(extension)) return name;
  throw refuse(`The file extension is .${extension}, but the file is ${container} audio.`);
}

async function measureWave(
  head: Buffer,
  { path, sizeBytes }: ReceivedFile,
): Promise<MeasuredLength | undefined> {
  const wave = readWaveHeader(head);
  if (!wave) return undefined;
  const ms = waveLengthMs(wave, sizeBytes);
  if (ms === undefined) return undefined;
  return { ms, isClaimed: await hasFurtherSamples(path, wave) };
}

function refuse(message: string): InvalidRequestError {
  return new InvalidRequestError('file', message);
}
