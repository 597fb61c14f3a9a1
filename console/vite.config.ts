import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * The gateway that `npm run dev` proxies API calls to. The `Host` header stays unchanged because the gateway
 * compares it with the `Origin` of state-changing requests.
 */
const GATEWAY = { target: 'http://127.0.0.1:3000', changeOrigin: false };

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    // The content security policy does not allow data URIs.
    assetsInlineLimit: 0,
    // The polyfill is an inline script, and every supported browser has module preload.
    modulePreload: { polyfill: false },
    // Collects the licence notices of bundled packages.
    license: { fileName: 'licences.txt' },
  },
  server: {
    port: 5173,
    proxy: { '/v1': GATEWAY, '/docs-json': GATEWAY, '/healthz': GATEWAY, '/readyz': GATEWAY },
  },
});
