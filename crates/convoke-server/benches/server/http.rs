//! A client that does as little as it can, so that what is measured is the server.

use std::net::SocketAddr;

use convoke_testkit::bench::Result;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// A connection that is kept.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    line: String,
}

/// How long a body is.
enum Length {
    Known(usize),
    Chunked,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::with_capacity(64 * 1024, stream), line: String::new() })
    }

    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<()> {
        Ok(self.stream.get_mut().write_all(request).await?)
    }

    /// Reads an answer and returns its body.
    pub(crate) async fn receive(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        self.each_part(|part| body.extend_from_slice(part)).await?;
        Ok(body)
    }

    /// Reads an answer, keeps nothing, and returns the length of its body.
    pub(crate) async fn count(&mut self) -> Result<usize> {
        let mut bytes = 0;
        self.each_part(|part| bytes += part.len()).await?;
        Ok(bytes)
    }

    async fn each_part(&mut self, mut take: impl FnMut(&[u8])) -> Result<()> {
        match self.head().await? {
            Length::Known(bytes) => self.part(bytes, &mut take).await,
            Length::Chunked => loop {
                self.next_line().await?;
                let bytes = usize::from_str_radix(self.line.trim(), 16)?;
                self.part(bytes, &mut take).await?;
                self.next_line().await?;
                if bytes == 0 {
                    return Ok(());
                }
            },
        }
    }

    /// Reads the head of an answer that never ends; its lines come from `next_line`.
    pub(crate) async fn follow(&mut self) -> Result<()> {
        self.head().await.map(drop)
    }

    /// The next line, with its end.
    pub(crate) async fn next_line(&mut self) -> Result<&str> {
        self.line.clear();
        if self.stream.read_line(&mut self.line).await? == 0 {
            return Err("the server hung up".into());
        }
        Ok(&self.line)
    }

    async fn head(&mut self) -> Result<Length> {
        let status = self.next_line().await?;
        if !status.contains(" 20") {
            return Err(format!("the server says {status}").into());
        }
        let mut length = Length::Known(0);
        loop {
            let line = self.next_line().await?.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                return Ok(length);
            } else if let Some(bytes) = line.strip_prefix("content-length:") {
                length = Length::Known(bytes.trim().parse()?);
            } else if line.starts_with("transfer-encoding:") {
                length = Length::Chunked;
            }
        }
    }

    async fn part(&mut self, bytes: usize, take: &mut impl FnMut(&[u8])) -> Result<()> {
        let mut left = bytes;
        while left > 0 {
            let buffer = self.stream.fill_buf().await?;
            let part = buffer.get(..left.min(buffer.len())).unwrap_or_default();
            if part.is_empty() {
                return Err("the server hung up".into());
            }
            take(part);
            let taken = part.len();
            self.stream.consume(taken);
            left -= taken;
        }
        Ok(())
    }
}
