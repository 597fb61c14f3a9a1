import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * Where the gateway listens to which `npm run dev` hands API calls on. The `Host` stays as the browser
 * sent it: the gateway holds the `Origin` of a session's changes against it.
 */
const GATEWAY = { target: 'http://127.0.0.1:3000', changeOrigin: false };

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // Data URIs would have to be allowed by the content security policy.
    assetsInlineLimit: 0,
    // The polyfill is an inline script in old browsers alone; all that run the console have module preload.
    modulePreload: { polyfill: false },
    // Of what is packed, whose notices the files themselves lack.
    license: { fileName: 'licences.txt' },
  },
  server: {
    port: 5173,
    proxy: { '/v1': GATEWAY, '/docs-json': GATEWAY, '/healthz': GATEWAY, '/readyz': GATEWAY },
  },
});
