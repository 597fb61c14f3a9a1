import { describe, expect, it } from '@jest/globals';
import { presentArtifact } from './artifact-response.js';

describe(presentArtifact.name, () => {
  it.each([
    ['image/png', 'image/png', 'inline; filename="a.png"'],
    ['image/jpeg', 'image/jpeg', 'inline; filename="a.jpg"'],
    ['video/mp4', 'video/mp4', 'inline; filename="a.mp4"'],
    ['AUDIO/MPEG; rate=44100', 'audio/mpeg', 'inline; filename="a.mp3"'],
    ['audio/x-flac', 'audio/x-flac', 'inline; filename="a.flac"'],
    ['audio/wav', 'audio/wav', 'inline; filename="a.wav"'],
  ])('shows %s inline', (stored, contentType, contentDisposition) => {
    expect(presentArtifact('a', stored)).toEqual({ contentType, contentDisposition });
  });

  it.each([
    'text/html',
    'image/svg+xml',
    'application/xhtml+xml',
    'application/pdf',
    'image/"\r\nx',
    'image/',
    '',
  ])('serves %j as a download', (stored) => {
    expect(presentArtifact('a', stored)).toEqual({
      contentType: 'application/octet-stream',
      contentDisposition: 'attachment; filename="a.bin"',
    });
  });
});
