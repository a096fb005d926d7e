//! A client that asks over one connection, and a load of several of them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::Outcome;

/// A connection that stays open.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    head: String,
}

impl Connection {
    pub(super) fn open(address: &str, token: Option<&str>) -> Outcome<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
        let token = token.unwrap_or_default();
        Ok(Connection {
            stream: BufReader::new(stream),
            head: format!("Host: {address}\r\n{token}\r\n"),
        })
    }

    /// Returns the body of an answer; any status but 200 is an error.
    pub(super) fn get(&mut self, path: &str) -> Outcome<Vec<u8>> {
        let request = format!("GET {path} HTTP/1.1\r\n{}", self.head);
        self.stream.get_mut().write_all(request.as_bytes())?;
        let status = self.line()?;
        if status.split(' ').nth(1) != Some("200") {
            return Err(format!("{path}: {status}").into());
        }
        let (mut length, mut is_chunked) = (None, false);
        loop {
            let line = self.line()?.to_ascii_lowercase();
            match line.split_once(": ") {
                Some(("content-length", value)) => length = Some(value.parse::<usize>()?),
                Some(("transfer-encoding", value)) => is_chunked = value.contains("chunked"),
                None if line.is_empty() => break,
                _ => {}
            }
        }
        match length {
            Some(length) => self.bytes(length),
            None if is_chunked => self.chunks(),
            None => Err("an answer without a length".into()),
        }
    }

    fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err("the connection ended".into());
        }
        Ok(line.trim_end().to_owned())
    }

    fn bytes(&mut self, length: usize) -> Outcome<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn chunks(&mut self) -> Outcome<Vec<u8>> {
        let mut all = Vec::new();
        loop {
            let length = usize::from_str_radix(self.line()?.trim(), 16)?;
            all.extend(self.bytes(length)?);
            self.line()?;
            if length == 0 {
                return Ok(all);
            }
        }
    }
}

/// How long requests took.
pub(super) struct Load {
    times: Vec<f64>,
    span: f64,
}

impl Load {
    /// Asks for the paths in turn over several connections until the time is over.
    pub(super) fn run(
        open: impl Fn() -> Outcome<Connection>,
        paths: &[String],
        connections: usize,
        span: Duration,
    ) -> Outcome<Load> {
        let mut opened = Vec::new();
        for _ in 0..connections {
            opened.push(open()?);
        }
        let started = Instant::now();
        let ask = |mut connection: Connection, number: usize| -> Result<Vec<f64>, String> {
            let mut times = Vec::new();
            while started.elapsed() < span {
                let path = &paths[(times.len() + number) % paths.len()];
                let at = Instant::now();
                connection.get(path).map_err(|error| error.to_string())?;
                times.push(at.elapsed().as_secs_f64());
            }
            Ok(times)
        };
        let results: Vec<Result<Vec<f64>, String>> = std::thread::scope(|scope| {
            let threads: Vec<_> = opened
                .into_iter()
                .enumerate()
                .map(|(number, connection)| scope.spawn(move || ask(connection, number)))
                .collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread
                    .join()
                    .unwrap_or_else(|_| Err("a thread panicked".to_owned()))
            };
            threads.into_iter().map(join).collect()
        });
        let span = started.elapsed().as_secs_f64();
        let mut times = Vec::new();
        for result in results {
            times.extend(result?);
        }
        times.sort_by(f64::total_cmp);
        Ok(Load { times, span })
    }

    /// Returns how many requests were answered in a second.
    pub(super) fn rate(&self) -> f64 {
        self.times.len() as f64 / self.span
    }

    /// Returns the time that a share of the requests did not exceed.
    pub(super) fn at(&self, share: f64) -> f64 {
        let last = self.times.len().saturating_sub(1);
        let place = (share * last as f64).ceil() as usize;
        self.times.get(place).copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A server that answers every second request in chunks.
    fn serve() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || {
                    let mut writer = stream.try_clone().unwrap();
                    let lines = BufReader::new(stream).lines().map_while(Result::ok);
                    let mut number = 0;
                    for _ in lines.filter(String::is_empty) {
                        number += 1;
                        let answer: &[u8] = match number % 2 {
                            0 => b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                            _ => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
                        };
                        if writer.write_all(answer).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        address
    }

    #[test]
    fn answers_with_a_length_and_in_chunks_are_read_over_one_connection() {
        let address = serve();
        let mut connection = Connection::open(&address, Some("t")).unwrap();
        for _ in 0..4 {
            assert_eq!(connection.get("/").unwrap(), b"hello");
        }
    }

    #[test]
    fn a_load_counts_every_answer_and_orders_its_times() {
        let address = serve();
        let open = || Connection::open(&address, None);
        let span = Duration::from_millis(50);
        let load = Load::run(open, &["/".to_owned()], 2, span).unwrap();
        assert!(load.rate() > 0.0 && load.at(0.5) <= load.at(0.99));
    }
}
