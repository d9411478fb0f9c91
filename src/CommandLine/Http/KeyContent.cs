using System.Buffers.Text;
using System.Net;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using Treepie.Storage;

namespace Treepie.CommandLine.Http;

/// <summary>
/// A key in base64 as a request body, zeroed when disposed. Copies that the connection makes while sending cannot be zeroed.
/// </summary>
internal sealed class KeyContent : HttpContent
{
    private readonly byte[] _text = GC.AllocateArray<byte>(
        Base64.GetMaxEncodedToUtf8Length(EncryptionKey.SizeBytes), pinned: true);

    /// <exception cref="UsageException">The key is a passphrase, which servers accept from their own sources only.</exception>
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
