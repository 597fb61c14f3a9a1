import { parseBuffer, parseFile, type IAudioMetadata, type IOptions } from 'music-metadata';

/**
 * The length of the audio in a file, in whole milliseconds rounded up; undefined when the file does
 * not tell. Of a long file without a table of its frames every frame is read.
 */
export async function measureAudioFile(path: string): Promise<number | undefined> {
  return measure((options) => parseFile(path, options));
}

/** The same for audio in memory. */
export async function measureAudioBytes(
  bytes: Uint8Array,
  contentType: string,
): Promise<number | undefined> {
  return measure((options) => parseBuffer(bytes, { mimeType: contentType }, options));
}

async function measure(
  parse: (options: IOptions) => Promise<IAudioMetadata>,
): Promise<number | undefined> {
  // Quick first: most containers say their length, and counting frames takes a second for an hour.
  for (const duration of [false, true]) {
    try {
      const { format } = await parse({ duration, skipCovers: true, skipPostHeaders: true });
      const { duration: seconds } = format;
      if (seconds !== undefined && seconds > 0 && Number.isFinite(seconds)) {
        return Math.ceil(Number((seconds * 1000).toFixed(3)));
      }
    } catch {
      return undefined;
    }
  }
  return undefined;
}
