import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { makeQueryClient } from './api/queries';
import { makeRouter } from './router';
import { preloadSession } from './session/session';
import { applyTheme } from './shell/theme';
import './ui/tokens.css';
import './ui/kit.css';
import './shell/shell.css';

// Radix locks scrolling behind a dialog with a <style> element; the content security policy allows it by nonce.
setNonce(document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '');
applyTheme();

const queryClient = makeQueryClient();
preloadSession(queryClient);

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={makeRouter()} />
      </QueryClientProvider>
    </StrictMode>,
  );
}
