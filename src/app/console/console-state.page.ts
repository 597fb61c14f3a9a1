import type { ConsoleState } from './console-files.js';

/** What a browser is shown in place of the console, and when to ask again. */
export function renderConsoleState(
  { kind, detail }: ConsoleState,
  nonce: string,
): { page: string; seconds: number } {
  const { title, text, seconds } = {
    building: {
      title: 'The console is being built',
      text: `<p>Now: ${escapeHtml(detail)}. It takes a minute or two after the first start, and appears here by itself.</p>`,
      seconds: 3,
    },
    failed: {
      title: 'The console could not be built',
      text: `<p>${escapeHtml(detail)}.</p>${REMEDY}`,
      seconds: 15,
    },
    absent: {
      title: 'The console is not built',
      text: `<p>The gateway was started without it.</p>${REMEDY}`,
      seconds: 15,
    },
  }[kind];
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Model Gateway</title>
<style nonce="${nonce}">
:root { color-scheme: light dark; }
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 38rem; margin: 18vh auto 0; padding: 0 1.5rem; }
code { font-family: ui-monospace, monospace; }
</style>
</head>
<body>
<main>
<h1>${title}</h1>
<div role="status">${text}</div>
<p>The API works meanwhile: <a href="/docs">its description</a>.</p>
</main>
</body>
</html>
`;
  return { page, seconds };
}

const REMEDY =
  '<p>In the folder of the gateway, as a user who may write there and with a way to the package registry, run' +
  ' <code>npm run build:console</code>. The console then appears here by itself; nothing has to be restarted.</p>';

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
