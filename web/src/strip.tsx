// What a session consists of, as a strip: prompts, answers, tools.

const COLOURS: [RegExp, string][] = [
  [/^(user|prompt)/, "user"],
  [/assistant|message|agent/, "say"],
  [/tool|function|result|exec/, "tool"],
  [/compact|summary/, "fold"],
];

export function Strip({ kinds }: { kinds: { [kind: string]: number } | null }) {
  if (!kinds) return <span class="shape" />;
  const sums: Record<string, number> = { user: 0, say: 0, tool: 0, fold: 0 };
  for (const [kind, number] of Object.entries(kinds)) {
    const found = COLOURS.find(([pattern]) => pattern.test(kind));
    if (found) sums[found[1]] += number;
  }
  const all = Object.values(sums).reduce((a, b) => a + b, 0);
  if (all === 0) return <span class="shape" />;
  let x = 0;
  const parts = Object.entries(sums).map(([kind, number]) => {
    const width = (108 * number) / all;
    const part = <rect x={x} y={9} width={Math.max(0, width - 1)} height={8} rx={1.5} class={`t-${kind}`} />;
    x += width;
    return number ? part : null;
  });
  const text = Object.entries(sums).map(([kind, number]) => `${kind} ${number}`).join(", ");
  return (
    <svg class="shape" viewBox="0 0 108 26" role="img" aria-label={text}>
      <title>{text}</title>
      {parts}
    </svg>
  );
}
