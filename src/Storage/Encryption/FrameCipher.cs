using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.Encryption;

/// <summary>
/// Encrypts and decrypts the frames of one use of a journal file, in place. The header, with tag and hash as 0, is the
/// associated data; the nonce is the frame number. For one thread at a time.
/// </summary>
internal sealed class FrameCipher(AesGcmSeal seal) : IDisposable
{
    /// <summary>Encrypts the payload and sets the tag. The hash must be computed afterwards.</summary>
    public void Seal(Span<byte> frame)
    {
        Debug.Assert(
            !frame.Slice(FrameHeader.TagOffset, AesGcmSeal.TagBytes).ContainsAnyExcept((byte)0),
            "a frame is sealed without a tag, as it is opened");
        Span<byte> nonce = stackalloc byte[AesGcmSeal.NonceBytes];
        WriteNonce(frame, nonce);
        Span<byte> tag = stackalloc byte[AesGcmSeal.TagBytes];
        Span<byte> payload = frame[FrameHeader.SizeBytes..];
        seal.Seal(nonce, frame[..FrameHeader.SizeBytes], payload, payload, tag);
        tag.CopyTo(frame[FrameHeader.TagOffset..]);
    }

    /// <summary>
    /// Decrypts the payload of a frame whose hash was verified and then set to 0. Returns false if it is not authentic.
    /// </summary>
    public bool TryOpen(Span<byte> frame)
    {
        Span<byte> tag = stackalloc byte[AesGcmSeal.TagBytes];
        Span<byte> stored = frame.Slice(FrameHeader.TagOffset, AesGcmSeal.TagBytes);
        stored.CopyTo(tag);
        stored.Clear();
        Span<byte> nonce = stackalloc byte[AesGcmSeal.NonceBytes];
        WriteNonce(frame, nonce);
        Span<byte> payload = frame[FrameHeader.SizeBytes..];
        return seal.TryOpen(nonce, frame[..FrameHeader.SizeBytes], payload, tag, payload);
    }

    public void Dispose() => seal.Dispose();

    private static void WriteNonce(ReadOnlySpan<byte> frame, Span<byte> nonce)
    {
        nonce.Clear();
        frame.Slice(FrameHeader.NumberOffset, sizeof(long)).CopyTo(nonce);
    }
}
