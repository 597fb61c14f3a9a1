/**
 * Ways in which servers of the common APIs say that a prompt does not fit into a model. Few of them
 * give it a code of its own, so it is told by their words. Output limits and rates of tokens, which
 * are spelled much alike, must not be taken for it.
 */
const WORDINGS: readonly RegExp[] = [
  // OpenAI, vLLM, SGLang, llama.cpp, LM Studio, MiniMax, Mistral and most others
  /\bcontext[_ ](?:length|limit|size|window)\b|exceed_context_size/i,
  // vLLM before the prompt is counted; xAI
  /maximum (?:model|prompt|(?:allowed )?input) length/i,
  // Anthropic, Bedrock
  /(?:prompt|input)(?: is)? too long/i,
  // Google
  /input token count|exceeds the maximum number of (?:input )?tokens/i,
  // Groq, Cerebras
  /reduce the length of (?:the|your) (?:messages|prompt|input)/i,
  // Moonshot, GitHub
  /exceeded model token limit|token count of [\d,]+ exceeds/i,
  // OpenAI's newer models
  /input tokens exceed/i,
  // Cohere
  /too many tokens: total number of tokens in the prompt/i,
  // Hugging Face's servers
  /`inputs` (?:tokens \+ `max_new_tokens` must be|must have less than)/i,
  // Alibaba, Zhipu
  /range of input length should be|prompt exceeds max(?:imum)? length/i,
];

/** Whether a server's message says that the prompt is too long for the model. */
export function isPromptTooLong(message: string): boolean {
  return WORDINGS.some((wording) => wording.test(message));
}
