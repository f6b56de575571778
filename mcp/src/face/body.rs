//! Reading a request's body within its limit.

use bytes::{Buf as _, Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body::Body;
use http_body_util::BodyExt as _;

use super::refusal::Refusal;
use crate::{number, weight};

/// The whole body, or why not: over the limit (told from `Content-Length` where there is one,
/// before anything is read) or broken off.
pub(super) async fn read<B: Body + Send>(
    headers: &HeaderMap,
    body: B,
    limit: usize,
) -> Result<Bytes, Refusal> {
    let length = headers.get(header::CONTENT_LENGTH);
    let announced = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|size| size > limit as u64) {
        return Err(Refusal::too_large(limit, announced));
    }
    let mut body = std::pin::pin!(body);
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::broken_body())?;
        let Ok(mut data) = frame.into_data() else { continue };
        let so_far = first.len() + whole.len();
        if data.remaining() > limit.saturating_sub(so_far) {
            return Err(Refusal::too_large(limit, None));
        }
        // Most bodies come in one piece, which is kept as it is.
        if so_far == 0 {
            first = data.copy_to_bytes(data.remaining());
        } else {
            whole.reserve(first.len() + data.remaining());
            whole.extend_from_slice(&std::mem::take(&mut first));
            while data.has_remaining() {
                let chunk = data.chunk();
                whole.extend_from_slice(chunk);
                let read = chunk.len();
                data.advance(read);
            }
        }
    }
    let whole = if whole.is_empty() { first } else { whole.freeze() };
    match weight::values(&whole) {
        count if count > weight::MOST_VALUES => Err(Refusal::too_many_values(count)),
        _ => match number::unkept(&whole).and_then(|number| Refusal::unkept(&whole, number)) {
            Some(refusal) => Err(refusal),
            None => Ok(whole),
        },
    }
}
