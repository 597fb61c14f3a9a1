/** OpenAI's answers about images and videos. */

export const USAGE = {
  input_tokens: 50,
  output_tokens: 4_160,
  total_tokens: 4_210,
  input_tokens_details: { text_tokens: 50, image_tokens: 0 },
};
export const VIDEO = {
  id: 'video_123',
  object: 'video',
  created_at: 1,
  completed_at: null,
  expires_at: null,
  error: null,
  model: 'sora-2',
  progress: 0,
  prompt: 'A cat walks',
  remixed_from_video_id: null,
  seconds: '8',
  size: '1280x720',
  status: 'queued',
};
