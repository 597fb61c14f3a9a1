import { waveHeader } from '../../src/platform/audio/wave-file.js';

const FORMAT = { channels: 1, sampleRate: 8_000, bitsPerSample: 16 };

/** A silent WAV file. */
export function silentWave(ms: number): Buffer {
  const samples = Buffer.alloc((ms * FORMAT.sampleRate * 2) / 1000);
  return Buffer.concat([waveHeader(FORMAT, samples.length), samples]);
}

/** A silent MP3: frames of 417 bytes, 128 kbit/s at 44.1 kHz, 1,152 samples each. */
export function silentMp3(frames: number): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0xc0]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

/** FLAC of 16 kHz, mono, 16 bits, whose header claims that many samples. */
export function flacThatClaims(samples: number, bytes: number): Buffer {
  const info = Buffer.alloc(34);
  info.writeUInt16BE(4_096, 0);
  info.writeUInt16BE(4_096, 2);
  // 20 bits of rate, 3 of channels - 1, 5 of bits - 1, and the first 4 of the samples.
  info.writeUInt32BE(((16_000 << 12) | (15 << 4)) >>> 0, 10);
  info.writeUInt32BE(samples, 14);
  return Buffer.concat([
    Buffer.from('fLaC'),
    Buffer.from([0x80, 0, 0, 34]),
    info,
    Buffer.alloc(bytes),
  ]);
}

/** An MP4 box. */
export function mp4Box(name: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length);
  header.write(name, 4, 'latin1');
  return Buffer.concat([header, body]);
}

/** Encodes four-byte numbers. */
export function mp4Numbers(...numbers: number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeUInt32BE(number, 4 * index);
  return bytes;
}

/**
 * MP4 with an AAC track at 16 kHz, 1,024 samples a frame.
 *
 * @param claimedMs duration in its header; 0 in fragments
 * @param lists of samples, instead of none
 * @param rest boxes after the track's description
 */
export function mp4ThatClaims(claimedMs: number, lists: Buffer[], ...rest: Buffer[]): Buffer {
  const config = `00000000031900010004114015${'00'.repeat(11)}05021408`;
  const sound = Buffer.alloc(28);
  sound.writeUInt16BE(1, 6);
  const entry = mp4Box('mp4a', sound, mp4Box('esds', Buffer.from(config, 'hex')));
  const media = mp4Box(
    'mdia',
    mp4Box('mdhd', mp4Numbers(0, 0, 0, 1_000, claimedMs, 0)),
    mp4Box('hdlr', Buffer.alloc(8), Buffer.from('soun'), Buffer.alloc(13)),
    mp4Box('minf', mp4Box('stbl', mp4Box('stsd', mp4Numbers(0, 1), entry), ...lists)),
  );
  const header = mp4Box('tkhd', mp4Numbers(0, 0, 0, 1), Buffer.alloc(68));
  return Buffer.concat([
    mp4Box('ftyp', Buffer.from('M4A \0\0\0\0')),
    mp4Box('moov', mp4Box('trak', header, media), ...rest),
  ]);
}

/** A WebM element by its hexadecimal id. */
export function webmElement(id: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const size = Buffer.alloc(8);
  size.writeUInt32BE(body.length, 4);
  size[0] = 1;
  return Buffer.concat([Buffer.from(id, 'hex'), size, body]);
}

/** WebM with an Opus track. @param info further header elements @param clusters of its sound */
export function webmOf(info: Buffer, ...clusters: Buffer[]): Buffer {
  const track = webmElement(
    'ae',
    webmElement('d7', Buffer.from([1])),
    webmElement('83', Buffer.from([2])),
    webmElement('86', Buffer.from('A_OPUS')),
  );
  const segment = [webmElement('1549a966', info), webmElement('1654ae6b', track), ...clusters];
  const header = webmElement('1a45dfa3', webmElement('4282', Buffer.from('webm')));
  return Buffer.concat([header, webmElement('18538067', ...segment)]);
}
