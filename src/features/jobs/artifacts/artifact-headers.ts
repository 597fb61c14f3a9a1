/** What files of these types are called; others by the second half of their type. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'audio/aac': 'aac',
  'audio/flac': 'flac',
  'audio/mp4': 'm4a',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/opus': 'opus',
  'audio/pcm': 'pcm',
  'audio/wav': 'wav',
  'audio/webm': 'weba',
  'audio/x-wav': 'wav',
  'image/jpeg': 'jpg',
  'video/quicktime': 'mov',
};

const OPAQUE = 'application/octet-stream';

/** How an artifact is presented to a browser. */
export interface ArtifactPresentation {
  readonly contentType: string;
  readonly contentDisposition: string;
}

/**
 * Pictures, sound and films are shown; anything else, and pictures that may hold a program, is
 * only ever saved. The type comes from a vendor, so it is not trusted further than that.
 */
export function presentArtifact(artifactId: string, storedType: string): ArtifactPresentation {
  const type = storedType.split(';', 1)[0]!.trim().toLowerCase();
  const [, subtype] = /^(?:image|audio|video)\/([a-z0-9.-]+)$/.exec(type) ?? [];
  if (subtype === undefined) {
    return {
      contentType: OPAQUE,
      contentDisposition: `attachment; filename="${artifactId}.bin"`,
    };
  }
  const extension = EXTENSIONS[type] ?? subtype.replace(/^x-/, '');
  return {
    contentType: type,
    contentDisposition: `inline; filename="${artifactId}.${extension}"`,
  };
}

/** Headers of each answer about an artifact, whether it carries bytes or not. */
export const ARTIFACT_HEADERS: Readonly<Record<string, string>> = {
  'accept-ranges': 'bytes',
  // Kept, and asked for again each time, so that nothing is shown after it has expired.
  'cache-control': 'private, no-cache',
  'content-security-policy': 'sandbox',
  'cross-origin-resource-policy': 'cross-origin',
  // The URL is as good as a key to the artifact.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
