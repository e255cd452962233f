//! Sends one JSON value with open descriptors over a Unix socket, between the daemon, the
//! supervisor and the last stage.
//!
//! The value is preceded by its length. Descriptors are sent with the length and received as
//! close-on-exec.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Descriptors in one message; the kernel takes 253.
const DESCRIPTORS_MAX: usize = 64;
/// Bytes of a value; arguments and environment together are limited to 2 MiB by the kernel.
const VALUE_BYTES_MAX: usize = 16 << 20;

/// Sends a value, and descriptors with it.
pub(super) fn send(
    socket: &mut UnixStream,
    value: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let body = serde_json::to_vec(value)?;
    let length = u32::try_from(body.len()).map_err(io::Error::other)?.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    // Four bytes are sent whole or not at all.
    sendmsg(&*socket, &[IoSlice::new(&length)], &mut control, SendFlags::NOSIGNAL)?;
    socket.write_all(&body)
}

/// Receives a value, and the descriptors that came with it.
pub(super) fn receive<T: DeserializeOwned>(
    socket: &mut UnixStream,
) -> io::Result<(T, Vec<OwnedFd>)> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut buffers = [IoSliceMut::new(&mut length)];
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL;
    let received = recvmsg(&*socket, &mut buffers, &mut control, flags)?;
    if received.bytes != 4 || received.flags.contains(ReturnFlags::CTRUNC) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let mut descriptors = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > VALUE_BYTES_MAX {
        return Err(io::Error::other(format!("a message of {length} bytes is too long")));
    }
    let mut body = vec![0; length];
    socket.read_exact(&mut body)?;
    Ok((serde_json::from_slice(&body)?, descriptors))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_value_and_its_descriptors_arrive_together() {
        let (mut one, mut other) = UnixStream::pair().unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        let value = vec!["x".repeat(100_000)];
        let sending = std::thread::spawn(move || {
            send(&mut one, &value, &[writer.as_fd()]).unwrap();
            value
        });
        let (received, descriptors) = receive::<Vec<String>>(&mut other).unwrap();
        assert_eq!(received, sending.join().unwrap());
        let mut file = std::fs::File::from(descriptors.into_iter().next().unwrap());
        file.write_all(b"through").unwrap();
        drop(file);
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
    }

    #[test]
    fn a_socket_that_closes_early_is_an_error() {
        let (one, mut other) = UnixStream::pair().unwrap();
        drop(one);
        let received = receive::<Vec<String>>(&mut other);
        assert_eq!(received.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }
}
