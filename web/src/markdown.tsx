// Markdown as nodes. There is no HTML string anywhere: tags in a text are shown as text.

import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";

const KEYWORDS =
  /\b(?:as|async|await|break|case|catch|class|const|continue|def|do|else|enum|export|extends|fn|for|from|func|function|if|impl|import|in|interface|let|loop|match|mod|mut|new|null|pub|return|self|static|struct|switch|this|throw|trait|true|false|try|type|use|var|while|with|yield|None|True|False)\b/;
const PIECES = new RegExp(
  `(//[^\\n]*|#(?![\\w{[])[^\\n]*|/\\*[\\s\\S]*?\\*/)|("(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*')|(${KEYWORDS.source})|(\\b\\w+(?=\\())`,
  "g",
);

/** Code with its comments, strings, keywords and calls marked. */
export function Code({ text }: { text: string }) {
  if (text.length > 20000) return <>{text}</>;
  const nodes: ComponentChildren[] = [];
  let at = 0;
  for (const match of text.matchAll(PIECES)) {
    nodes.push(text.slice(at, match.index));
    const kind = match[1] ? "cm" : match[2] ? "str" : match[3] ? "kw" : "fn";
    nodes.push(<span class={kind}>{match[0]}</span>);
    at = match.index + match[0].length;
  }
  nodes.push(text.slice(at));
  return <>{nodes}</>;
}

/** Whether a link leads to a web page; everything else is shown as text. */
function isWeb(link: string): boolean {
  return /^https?:\/\//i.test(link);
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const plain = (text: string) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => ENTITIES[name]);

/** How deep lists and quotes are followed. */
const DEEPEST = 12;

function inline(tokens: Token[] | undefined, depth: number): ComponentChildren[] {
  return (tokens ?? []).map((token) => {
    const inner = () => inline("tokens" in token ? token.tokens : undefined, depth + 1);
    if (depth > DEEPEST) return token.raw;
    switch (token.type) {
      case "strong":
        return <strong>{inner()}</strong>;
      case "em":
        return <em>{inner()}</em>;
      case "del":
        return <del>{inner()}</del>;
      case "codespan":
        return <code>{plain((token as Tokens.Codespan).text)}</code>;
      case "br":
        return <br />;
      case "link": {
        const link = token as Tokens.Link;
        if (!isWeb(link.href)) return link.raw;
        return (
          <a href={link.href} target="_blank" rel="noopener noreferrer nofollow">
            {inner()}
          </a>
        );
      }
      case "text":
        return "tokens" in token && token.tokens ? inner() : plain((token as Tokens.Text).text);
      case "escape":
        return plain((token as Tokens.Escape).text);
      // Pictures of other machines are never loaded, and HTML is text.
      default:
        return token.raw;
    }
  });
}

function list(token: Tokens.List, depth: number): VNode {
  const items = token.items.map((item) => (
    <li>
      {item.task ? (item.checked ? "☑ " : "☐ ") : ""}
      {blocks(item.tokens, depth + 1)}
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: Tokens.Table, depth: number): VNode {
  return (
    <table>
      <thead>
        <tr>
          {token.header.map((cell) => (
            <th>{inline(cell.tokens, depth)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {token.rows.map((row) => (
          <tr>
            {row.map((cell) => (
              <td>{inline(cell.tokens, depth)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function blocks(tokens: Token[] | undefined, depth: number): ComponentChildren[] {
  if (depth > DEEPEST) return (tokens ?? []).map((token) => token.raw);
  return (tokens ?? []).map((token) => {
    switch (token.type) {
      case "space":
        return null;
      case "heading": {
        const level = (token as Tokens.Heading).depth;
        const text = inline((token as Tokens.Heading).tokens, depth);
        return level <= 2 ? <h3>{text}</h3> : <h4>{text}</h4>;
      }
      case "paragraph":
        return <p>{inline((token as Tokens.Paragraph).tokens, depth)}</p>;
      case "text":
        return inline((token as Tokens.Text).tokens ?? [token], depth);
      case "code":
        return (
          <pre tabIndex={0}>
            <Code text={(token as Tokens.Code).text} />
          </pre>
        );
      case "blockquote":
        return <blockquote>{blocks((token as Tokens.Blockquote).tokens, depth + 1)}</blockquote>;
      case "list":
        return list(token as Tokens.List, depth);
      case "table":
        return table(token as Tokens.Table, depth);
      case "hr":
        return <hr />;
      default:
        return <p>{token.raw}</p>;
    }
  });
}

/** Texts that are longer, or nested deeper, are shown as they are: the lexer is quadratic for some of them. */
const LONGEST = 40_000;
const NESTED = /(?:[>*+-] ?){40}|^ {60}/m;

export function Markdown({ text }: { text: string }) {
  if (text.length > LONGEST || NESTED.test(text)) return <p class="raw">{text}</p>;
  try {
    return <>{blocks(new Lexer({ gfm: true }).lex(text), 0)}</>;
  } catch {
    return <p class="raw">{text}</p>;
  }
}
