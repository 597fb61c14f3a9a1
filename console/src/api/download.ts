import { requestHeaders, toApiError, unreachable } from './client';

/**
 * Has the browser save what the API answers, in the session and for the chosen tenant.
 *
 * @throws ApiError when the API refused, or could not be reached
 */
export async function download(
  path: string,
  { name, accept }: { name: string; accept?: string },
): Promise<void> {
  const response = await fetch(path, {
    credentials: 'same-origin',
    headers: { ...requestHeaders('GET'), ...(accept ? { accept } : {}) },
  }).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw toApiError(await response.json().catch(() => null), response);
  saveFile(await response.blob(), name);
}

/** Has the browser save a file of this name. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
