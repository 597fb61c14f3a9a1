import type { ReactNode } from 'react';
import type { components } from '../../api/schema';
import { formatBytes, localAddress } from './job-state';

export type Job = components['schemas']['GalleryJob'];
export type JobFile = components['schemas']['GalleryFile'];

/**
 * A picture, or a player. Sound and films are fetched when they are played: what is fetched keeps its charge.
 *
 * @param label says to screen readers what it is
 */
export function JobMedia({ file, label }: { file: JobFile; label: string }): ReactNode {
  const [kind] = file.content_type.split('/');
  if (file.url === null) {
    return <p className="job-none muted">Files are for the tenant&apos;s members only.</p>;
  }
  const address = localAddress(file.url);
  // A picture that may hold a program is only ever saved.
  if (kind === 'image' && !file.content_type.includes('svg')) {
    return <img className="job-picture" src={address} alt={label} loading="lazy" />;
  }
  if (kind === 'video') {
    return <video className="job-film" src={address} aria-label={label} controls preload="none" />;
  }
  if (kind === 'audio') {
    return <audio className="job-sound" src={address} aria-label={label} controls preload="none" />;
  }
  return <p className="job-none muted">{file.content_type}, to be downloaded.</p>;
}

/** Saves a file. */
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
