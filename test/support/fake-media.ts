import { UpstreamRegistry } from '../../src/vendors/upstream.registry.js';
import type { MediaFile, MediaProgress } from '../../src/vendors/media-work.js';
import { UpstreamError } from '../../src/vendors/upstream-error.js';
import type { Upstream } from '../../src/vendors/upstream.js';
import type { BootedGateway } from './boot-gateway.js';

type Media = Pick<Upstream, 'submitMedia' | 'pollMedia' | 'cancelMedia'>;

/** The calls to a fake vendor, and its answers from now on. */
export interface FakeMedia {
  readonly submissions: string[];
  readonly polls: string[];
  readonly cancels: string[];
  submit: NonNullable<Media['submitMedia']>;
  poll: NonNullable<Media['pollMedia']>;
}

export function file(text = 'a picture'): MediaFile {
  return {
    contentType: 'image/png',
    bytes: (async function* () {
      yield Buffer.from(text);
    })(),
  };
}

/** A file whose connection breaks. */
export function broken(): MediaFile {
  return {
    contentType: 'image/png',
    bytes: (async function* () {
      yield Buffer.from('half');
      throw new UpstreamError({ failure: 'reset', message: 'gone' });
    })(),
  };
}

export function done(...files: MediaFile[]): MediaProgress {
  return { state: 'done', files: files.length > 0 ? files : [file()], usage: undefined };
}

/** Replaces a configured provider's media work; succeeds unless told otherwise. */
export function fakeMedia({ gateway }: BootedGateway, provider: string): FakeMedia {
  const upstream = gateway.application.get(UpstreamRegistry, { strict: false }).get(provider);
  const fake: FakeMedia = {
    submissions: [],
    polls: [],
    cancels: [],
    submit: async () => done(),
    poll: async () => done(),
  };
  const media: Media = {
    submitMedia: (call) => {
      fake.submissions.push(JSON.stringify(call.request.body.value));
      return fake.submit(call);
    },
    pollMedia: (call) => {
      fake.polls.push(call.operation);
      return fake.poll(call);
    },
    cancelMedia: async ({ operation }) => {
      fake.cancels.push(operation);
    },
  };
  Object.assign(upstream, media);
  return fake;
}

/** Never answers; its connection ends when the caller gives up. */
export const hang: FakeMedia['submit'] = ({ signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });
