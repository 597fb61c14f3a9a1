import type { SentFile } from '../../calls/conversation';

/** The API accepts 20 MB of JSON, and base64 adds a third. */
export const MAX_FILES_BYTES = 14_000_000;
export const MAX_FILES = 10;
export const ACCEPTED =
  'image/png,image/jpeg,image/webp,image/gif,application/pdf,audio/wav,audio/mpeg,text/*';

/**
 * Reads picked or dropped files.
 *
 * @param before files that are already attached and count towards the limits
 * @returns the accepted files, and an error for each other file
 */
export async function readFiles(
  picked: readonly File[],
  before: readonly SentFile[],
): Promise<{ files: SentFile[]; errors: string[] }> {
  const files: SentFile[] = [];
  const errors: string[] = [];
  let bytes = before.reduce((sum, file) => sum + file.bytes, 0);
  for (const file of picked) {
    const error = fileErrorOf(file, before.length + files.length, bytes);
    if (error !== undefined) {
      errors.push(error);
      continue;
    }
    bytes += file.size;
    const type = file.type || 'text/plain';
    files.push({ name: file.name, type, bytes: file.size, data: await base64Of(file) });
  }
  return { files, errors };
}

/** Returns why a file cannot be attached; undefined if it can. */
export function fileErrorOf(
  { name, type, size }: Pick<File, 'name' | 'type' | 'size'>,
  count: number,
  bytes: number,
): string | undefined {
  if (count >= MAX_FILES) return `${name}: a message can have at most ${MAX_FILES} files.`;
  if (size === 0) return `${name}: the file is empty.`;
  if (bytes + size > MAX_FILES_BYTES) {
    return `${name}: the files of a message can have at most ${MAX_FILES_BYTES / 1e6} MB in total.`;
  }
  const accepts = ACCEPTED.split(',').map((accepted) => accepted.replace('*', ''));
  return type === '' || accepts.some((accepted) => type.startsWith(accepted))
    ? undefined
    : `${name}: ${type} is not supported. Attach images, PDF, text, WAV or MP3 files.`;
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () =>
      resolve(typeof reader.result === 'string' ? reader.result.replace(/^[^,]*,/, '') : '');
    reader.onerror = () => reject(reader.error ?? new Error(`${file.name} could not be read.`));
    reader.readAsDataURL(file);
  });
}
