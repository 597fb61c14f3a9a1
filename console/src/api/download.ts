import { requestHeaders, toApiError, unreachable } from './client';

/**
 * Downloads an API response as a file, with the session and the selected tenant.
 *
 * @throws ApiError for error responses and network errors
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

/** Offers a file for download under the given name. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
