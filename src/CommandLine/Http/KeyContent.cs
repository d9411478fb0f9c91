using System.Buffers.Text;
using System.Net;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using Treepie.Storage;

namespace Treepie.CommandLine.Http;

/// <summary>
/// A key as the body of a request, base64; zeroed with it. What the connection copies of it while it is sent is not in reach.
/// </summary>
internal sealed class KeyContent : HttpContent
{
    private readonly byte[] _text = GC.AllocateArray<byte>(
        Base64.GetMaxEncodedToUtf8Length(EncryptionKey.SizeBytes), pinned: true);

    /// <exception cref="UsageException">It is a passphrase, which servers take from their own sources only.</exception>
    public KeyContent(EncryptionKey key)
    {
        if (key.IsPassphrase)
        {
            throw new UsageException(
                $"A server is given keys of {EncryptionKey.SizeBytes} bytes, no passphrases. Have it read the passphrase itself: "
                    + $"start it with --database-key <name>=passphrase-file:PATH. 'treepie key generate' makes a key.");
        }

        Span<byte> bytes = stackalloc byte[EncryptionKey.SizeBytes];
        key.CopyTo(bytes);
        Base64.EncodeToUtf8(bytes, _text, out _, out _);
        CryptographicOperations.ZeroMemory(bytes);
        Headers.ContentType = new MediaTypeHeaderValue("text/plain");
    }

    protected override Task SerializeToStreamAsync(Stream stream, TransportContext? context) => stream.WriteAsync(_text).AsTask();

    protected override bool TryComputeLength(out long length)
    {
        length = _text.Length;
        return true;
    }

    protected override void Dispose(bool disposing)
    {
        CryptographicOperations.ZeroMemory(_text);
        base.Dispose(disposing);
    }
}
