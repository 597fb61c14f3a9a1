import type { ConsoleState } from './console-files.js';

/** Renders the page shown while there is no console, and the seconds until it reloads. */
export function renderConsoleState(
  { kind, detail }: ConsoleState,
  nonce: string,
): { page: string; seconds: number } {
  const { title, text, seconds } = {
    building: {
      title: 'The console is being built',
      text: `<p>Current step: ${escapeHtml(detail)}. The first build takes a minute or two. This page then shows the console.</p>`,
      seconds: 3,
    },
    failed: {
      title: 'The console could not be built',
      text: `<p>${escapeHtml(detail)}.</p>${REMEDY}`,
      seconds: 15,
    },
    absent: {
      title: 'The console is not built',
      text: `<p>The gateway was started without building it.</p>${REMEDY}`,
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
<p>The API works in the meantime: <a href="/docs">API description</a>.</p>
</main>
</body>
</html>
`;
  return { page, seconds };
}

const REMEDY =
  '<p>Run <code>npm run build:console</code> in the folder of the gateway, as a user with write access and with access to the package' +
  ' registry. This page then shows the console; no restart is needed.</p>';

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
