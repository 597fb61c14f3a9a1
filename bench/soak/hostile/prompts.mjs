export const PATHS = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

/** An image of one pixel in base64. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PAPER_PAGES = 2;
const PAPER = makePaper(PAPER_PAGES).toString('base64');

const PROMPT = 'Please tell us once more what the man with the dog has read in the news. '.repeat(
  4,
);

/** The vendor's token count for the prompt. */
export const PROMPT_TOKENS = 70;
export const PICTURE_TOKENS = 800;
export const PAPER_TOKENS = 1_500 * PAPER_PAGES;

/**
 * Returns a body in a dialect.
 *
 * @param options.plan the vendor's behavior: see `scripted-vendor.mjs`
 * @param options.prompt the text; @param options.attach `picture` or `paper`
 */
export function makeBody(dialect, { model, plan, prompt = PROMPT, attach, stream, ...fields }) {
  const user = new URLSearchParams(
    Object.entries(plan).map(([name, value]) => [name, String(value)]),
  ).toString();
  if (dialect === 'messages') {
    return {
      model,
      metadata: { user_id: user },
      max_tokens: 8_000,
      messages: [{ role: 'user', content: [{ type: 'text', text: prompt }, ...attached(attach)] }],
      ...(stream && { stream }),
      ...fields,
    };
  }
  if (dialect === 'responses') {
    return { model, user, input: prompt, store: false, ...(stream && { stream }), ...fields };
  }
  return {
    model,
    user,
    messages: [
      { role: 'user', content: [{ type: 'text', text: prompt }, ...attachedToChat(attach)] },
    ],
    ...(stream && { stream }),
    ...fields,
  };
}

function attachedToChat(attach) {
  if (attach === 'picture') {
    return [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } }];
  }
  if (attach === 'paper') {
    const file_data = `data:application/pdf;base64,${PAPER}`;
    return [{ type: 'file', file: { filename: 'paper.pdf', file_data } }];
  }
  return [];
}

function attached(attach) {
  const source = (media_type, data) => ({ type: 'base64', media_type, data });
  if (attach === 'picture') return [{ type: 'image', source: source('image/png', PICTURE) }];
  if (attach === 'paper') return [{ type: 'document', source: source('application/pdf', PAPER) }];
  return [];
}

/** Returns a PDF of empty pages. */
function makePaper(pages) {
  const kids = Array.from({ length: pages }, (_, index) => `${3 + index} 0 R`).join(' ');
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Count ${pages}/Kids[${kids}]>>`,
    ...Array.from({ length: pages }, () => '<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>'),
  ];
  let text = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const place = text.length;
    text += `${index + 1} 0 obj${object}endobj\n`;
    return place;
  });
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  text +=
    `xref\n0 ${size}\n0000000000 65535 f \n${table}` +
    `trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF`;
  return Buffer.from(text, 'latin1');
}
