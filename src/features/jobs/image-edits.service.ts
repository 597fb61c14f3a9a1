import { rm } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { collectWork, type CollectedWork } from '../../canonical/collect.js';
import type { WorkEvent } from '../../canonical/canonical-event.js';
import type { EditedImages, ImageEditRequest } from '../../canonical/work-request.js';
import { AnswersService } from '../../core/answers/answers.service.js';
import type { Call } from '../../core/answers/call.js';
import { asWhole, type Reply } from '../../core/answers/deliver.js';
import { CatalogueService } from '../../core/catalogue/catalogue.service.js';
import type { FilePlaces } from '../../platform/http/file-places.js';
import { receiveForm } from '../../platform/http/receive-form.js';
import { UploadFolder } from '../../platform/http/upload-folder.js';
import {
  IMAGE_EDIT_FORM,
  MAX_IMAGES,
  assertImageEdit,
  identifyImages,
  makeImageEdit,
} from './image-edit.parse.js';
import { renderUsage } from './render-job.js';

/** Total size of a form's images. */
const MAX_FORM_BYTES = 100_000_000;

/** Maximum number of files by form field. */
const COUNTS = {
  edit: new Map([
    ['image', MAX_IMAGES],
    ['mask', 1],
  ]),
  variation: new Map([['image', 1]]),
} as const;

/**
 * Edits images synchronously. Uploads are temporary files for the duration of the request, so this
 * is not a job, which would have to store them.
 */
@Injectable()
export class ImageEditsService {
  constructor(
    private readonly answers: AnswersService,
    private readonly catalogue: CatalogueService,
    private readonly uploads: UploadFolder,
  ) {}

  /**
   * Removes the uploads before the response is sent.
   * @throws GatewayError when the request is rejected
   */
  async create(
    call: Call,
    task: ImageEditRequest['task'],
  ): Promise<Reply<WorkEvent<EditedImages>>> {
    const path = await this.uploads.newPath();
    const room = this.uploads.lease(call.body);
    const places: FilePlaces = { counts: COUNTS[task], path, room, maxBytes: MAX_FORM_BYTES };
    const removeUploads = (): Promise<void> => removeAll(places);
    try {
      const { fields, files } = await receiveForm(call.body, IMAGE_EDIT_FORM, places);
      assertImageEdit(fields, task);
      const images = await identifyImages(files);
      const request = makeImageEdit(fields, task, images, (alias) => this.catalogue.find(alias));
      const answer = await this.answers.perform(call, {
        endpoint: `images.${task}s`,
        request,
        input: { texts: request.prompt === '' ? [] : [request.prompt], param: 'prompt' },
        start: (upstream, work) => upstream.editImages?.(work),
      });
      const created = Math.floor(call.receivedAt.getTime() / 1_000);
      const send = asWhole(
        async (events: AsyncIterable<WorkEvent<EditedImages>>) => {
          try {
            return await collectWork(events);
          } finally {
            await removeUploads();
          }
        },
        (work) => render(work, created),
      );
      return { answer, send };
    } catch (error) {
      await removeUploads();
      throw error;
    }
  }
}

function render(
  { outputs: [{ images, usage }], settled }: CollectedWork<EditedImages>,
  created: number,
): object {
  const data = images.map((base64) => ({ b64_json: base64 }));
  return { created, data, usage: { ...renderUsage('image', settled.usage), ...usage } };
}

/** Derives the file names, since some files may not have been written. */
async function removeAll({ counts, path }: FilePlaces): Promise<void> {
  const most = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const paths = Array.from({ length: most }, (_, index) =>
    index === 0 ? path : `${path}-${index}`,
  );
  await Promise.all(paths.map((each) => rm(each, { force: true })));
}
