import type { ReactNode } from 'react';
import type { components } from '../../api/schema';
import { formatBytes, localAddress } from './job-state';

export type Job = components['schemas']['GalleryJob'];
export type JobFile = components['schemas']['GalleryFile'];

/**
 * An image, or a player. Audio and video load on play, because fetching a file makes its charge final.
 *
 * @param label name for screen readers
 */
export function JobMedia({ file, label }: { file: JobFile; label: string }): ReactNode {
  const [kind] = file.content_type.split('/');
  if (file.url === null) {
    return <p className="job-none muted">Only members of the tenant can open files.</p>;
  }
  const address = localAddress(file.url);
  // SVG can contain scripts, so it is only offered for download.
  if (kind === 'image' && !file.content_type.includes('svg')) {
    return <img className="job-picture" src={address} alt={label} loading="lazy" />;
  }
  if (kind === 'video') {
    return <video className="job-film" src={address} aria-label={label} controls preload="none" />;
  }
  if (kind === 'audio') {
    return <audio className="job-sound" src={address} aria-label={label} controls preload="none" />;
  }
  return <p className="job-none muted">{file.content_type} (download to open)</p>;
}

/** A download button with the file's type and size. */
export function JobDownload({ file, name }: { file: JobFile; name: string }): ReactNode {
  const size = `${file.content_type}, ${formatBytes(file.bytes)}`;
  if (file.url === null) return <span className="muted">{size}</span>;
  return (
    <span className="row">
      <a className="button" href={localAddress(file.url)} download={name}>
        Download
      </a>
      <span className="muted">{size}</span>
    </span>
  );
}
