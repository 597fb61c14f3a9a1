import type { SentFile } from '../../calls/conversation';

/** Requests of JSON may have 20 MB, and base64 makes four bytes of three. */
export const MAX_FILES_BYTES = 14_000_000;
export const MAX_FILES = 10;
export const ACCEPTED =
  'image/png,image/jpeg,image/webp,image/gif,application/pdf,audio/wav,audio/mpeg,text/*';

/**
 * Reads what was picked or dropped.
 *
 * @param before is attached already and counts as well
 * @returns those that fit, and what is wrong with the others
 */
export async function readFiles(
  picked: readonly File[],
  before: readonly SentFile[],
): Promise<{ files: SentFile[]; faults: string[] }> {
  const files: SentFile[] = [];
  const faults: string[] = [];
  let bytes = before.reduce((sum, file) => sum + file.bytes, 0);
  for (const file of picked) {
    const fault = faultOf(file, before.length + files.length, bytes);
    if (fault !== undefined) {
      faults.push(fault);
      continue;
    }
    bytes += file.size;
    const type = file.type || 'text/plain';
    files.push({ name: file.name, type, bytes: file.size, data: await base64Of(file) });
  }
  return { files, faults };
}

/** Why a file can not go along; undefined: it can. */
export function faultOf(
  { name, type, size }: Pick<File, 'name' | 'type' | 'size'>,
  count: number,
  bytes: number,
): string | undefined {
  if (count >= MAX_FILES) return `${name} is one too many: a message takes ${MAX_FILES} files.`;
  if (size === 0) return `${name} is empty.`;
  if (bytes + size > MAX_FILES_BYTES) {
    return `${name} is too large: the files of a message may have ${MAX_FILES_BYTES / 1e6} MB together.`;
  }
  const accepts = ACCEPTED.split(',').map((accepted) => accepted.replace('*', ''));
  return type === '' || accepts.some((accepted) => type.startsWith(accepted))
    ? undefined
    : `${name} is of the type ${type}. Pictures, PDF, text, WAV and MP3 can be sent.`;
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
