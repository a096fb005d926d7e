//! A client in TypeScript, generated from the table of addresses: one method per address, with the
//! shapes of its answer.

use std::collections::BTreeSet;

use super::addresses::{Address, Answered, addresses, parameters};

const HEAD: &str = r#"// A client of boswell's server, generated from its table of addresses by
// `BOSWELL_BLESS=1 cargo test -p boswell-serve`.
// It needs `fetch` only: browsers, Node, Deno and Bun have it.

"#;

const BODY: &str = r#"
/** A list, with what is known about the whole of it. */
export interface Listed<T, P = null> {
  items: T[];
  page: P;
  warnings: NoticeShape[];
}

/** An error of the server (RFC 9457). */
export class BoswellError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly hint: string | null,
  ) {
    super(message);
  }
}

export interface ServerEvent {
  name: string;
  id: string | null;
  data: unknown;
}

/** What a request may have besides its parameters. */
export interface RequestOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

type Query = { [name: string]: string | number | boolean | undefined };

export class Boswell {
  constructor(
    readonly base: string,
    readonly token: string,
  ) {}

  private async ask(method: string, path: string, query: Query, body: unknown, options: RequestOptions): Promise<Response> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== false);
    const text = given.map(([name, value]) => `${name}=${value === true ? "" : encodeURIComponent(String(value))}`).join("&");
    const headers = { ...options.headers, Authorization: `Bearer ${this.token}` };
    const isRaw = typeof body === "string" || body instanceof Uint8Array;
    const sent = body === undefined ? undefined : isRaw ? (body as BodyInit) : JSON.stringify(body);
    const answer = await fetch(this.base + path + (text ? `?${text}` : ""), { method, headers, body: sent, signal: options.signal });
    if (answer.ok) return answer;
    const problem = (await answer.json().catch(() => ({}))) as { kind?: string; detail?: string; hint?: string };
    throw new BoswellError(answer.status, problem.kind ?? "internal", problem.detail ?? answer.statusText, problem.hint ?? null);
  }

  private async json<T>(method: string, path: string, query: Query, body: unknown, options: RequestOptions): Promise<T> {
    return (await (await this.ask(method, path, query, body, options)).json()) as T;
  }

  private async *events(path: string, options: RequestOptions): AsyncGenerator<ServerEvent> {
    const answer = await this.ask("GET", path, {}, undefined, options);
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const fields = new Map(block.split("\n").map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
        const data = fields.get("data");
        if (data !== undefined) yield { name: fields.get("event") ?? "message", id: fields.get("id") ?? null, data: JSON.parse(data) };
      }
    }
  }
"#;

/// Returns the client.
pub fn typescript_client() -> String {
    let all = addresses();
    let mut shapes = BTreeSet::from(["NoticeShape"]);
    for address in &all {
        match &address.answer {
            Answered::One(shape) => {
                shapes.insert(*shape);
            }
            Answered::List(items, page) => {
                shapes.extend(items.iter().copied());
                shapes.extend(*page);
            }
            _ => {}
        }
    }
    let names: Vec<&str> = shapes.into_iter().collect();
    let import = format!(
        "import type {{\n  {},\n}} from \"./src/shapes\";\n",
        names.join(",\n  ")
    );
    let methods: Vec<String> = all.iter().map(method).collect();
    format!("{HEAD}{import}{BODY}{}}}\n", methods.concat())
}

/// Returns the method of an address.
fn method(address: &Address) -> String {
    let (path, mut arguments) = path(address);
    let has_body = !address.body.is_empty();
    if has_body {
        arguments.push("body: unknown = {}".to_owned());
    }
    let query = address.parameters.iter();
    let query: Vec<String> = query
        .map(|name| format!("{name}?: {}", type_of(name)))
        .collect();
    if !query.is_empty() {
        arguments.push(format!("query: {{ {} }} = {{}}", query.join("; ")));
    }
    arguments.push("options: RequestOptions = {}".to_owned());
    let given = match (query.is_empty(), has_body) {
        (true, true) => "{}, body",
        (true, false) => "{}, undefined",
        (false, true) => "query, body",
        (false, false) => "query, undefined",
    };
    let (result, call) = returned(address, &path, given);
    format!(
        "\n  /** {}. */\n  {}({}): {result} {{\n    return {call};\n  }}\n",
        address.summary,
        camel(address.name),
        arguments.join(", ")
    )
}

/// Returns the path of an address as a template, and the arguments that it contains.
fn path(address: &Address) -> (String, Vec<String>) {
    let mut arguments = Vec::new();
    let mut path = String::new();
    for part in address.path.split('/').skip(1) {
        match part.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
            Some(name) => {
                arguments.push(format!("{name}: {}", type_of(name)));
                path.push_str(&format!("/${{encodeURIComponent({name})}}"));
            }
            None => {
                path.push('/');
                path.push_str(part);
            }
        }
    }
    (path, arguments)
}

/// Returns the type of a method's result, and the call that makes it.
fn returned(address: &Address, path: &str, given: &str) -> (String, String) {
    let verb = address.method.to_uppercase();
    let call = |with: &str| format!("{with}(\"{verb}\", `{path}`, {given}, options)");
    match &address.answer {
        Answered::One(shape) => (format!("Promise<{shape}>"), call("this.json")),
        Answered::List(items, page) => {
            let items = items.join(" | ");
            let page = page.unwrap_or("null");
            (
                format!("Promise<Listed<{items}, {page}>>"),
                call("this.json"),
            )
        }
        Answered::Object(_) => (
            "Promise<{ [name: string]: unknown }>".to_owned(),
            call("this.json"),
        ),
        Answered::Bytes => ("Promise<Response>".to_owned(), call("this.ask")),
        Answered::Events => (
            "AsyncGenerator<ServerEvent>".to_owned(),
            format!("this.events(`{path}`, options)"),
        ),
    }
}

fn type_of(name: &str) -> &'static str {
    let all = parameters();
    let found = all.iter().find(|[known, ..]| *known == name);
    match found.map(|[_, kind, _]| *kind) {
        Some("integer") => "number",
        Some("boolean") => "boolean",
        _ => "string",
    }
}

/// `plan_repair` as `planRepair`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut result = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        result.extend(letters.next().map(|it| it.to_ascii_uppercase()));
        result.extend(letters);
    }
    // Two methods would have the names of private ones.
    match result.as_str() {
        "events" => "allEvents".to_owned(),
        _ => result,
    }
}
