//! Random ids and secrets.

use std::{fmt::Write as _, io, sync::Arc};

/// The id of one request, for logs and `x-request-id`: 16 hexadecimal digits. It tells requests
/// apart; it is no secret and no authority.
pub fn request() -> Arc<str> {
    format!("{:016x}", fastrand::u64(..)).into()
}

/// The id of one run of the server: 16 hexadecimal digits, new at each start.
///
/// # Errors
/// When the system has no random bytes to give.
pub fn instance() -> io::Result<String> {
    hex::<8>()
}

/// A secret of 256 bits as 64 hexadecimal digits.
///
/// # Errors
/// When the system has no random bytes to give.
pub fn secret() -> io::Result<String> {
    hex::<32>()
}

/// The handle of a kept result: 128 random bits as 32 hexadecimal digits. Nothing tells the next from
/// it.
///
/// # Errors
/// When the system has no random bytes to give.
pub fn handle() -> io::Result<String> {
    hex::<16>()
}

/// The id of a message: a random UUID (version 4) as 32 hexadecimal digits. Nothing tells the next
/// from it.
///
/// # Errors
/// When the system has no random bytes to give.
pub fn message() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Ok(digits(bytes))
}

fn hex<const N: usize>() -> io::Result<String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(digits(bytes))
}

fn digits<const N: usize>(bytes: [u8; N]) -> String {
    bytes.iter().fold(String::with_capacity(2 * N), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_their_length_and_differ() {
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (one, two) = (secret().unwrap(), secret().unwrap());
        assert!(one.len() == 64 && is_hex(&one) && one != two);
        let instance = instance().unwrap();
        assert!(instance.len() == 16 && is_hex(&instance));
        let message = message().unwrap();
        assert!(message.len() == 32 && is_hex(&message));
        assert!(message.as_bytes()[12] == b'4' && b"89ab".contains(&message.as_bytes()[16]));
        assert!(handle().unwrap().len() == 32 && handle().unwrap() != handle().unwrap());
        let request = request();
        assert!(request.len() == 16 && is_hex(&request));
    }
}
