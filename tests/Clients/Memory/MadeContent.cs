using System.Net;
using System.Security.Cryptography;

namespace Treepie.Clients.Tests.Memory;

/// <summary>A long content that is made while it is sent, and its hash.</summary>
internal sealed class MadeContent(int blocks, int blockBytes) : HttpContent
{
    /// <summary>SHA-256 of what was sent last, in base64.</summary>
    public string? Hash { get; private set; }

    protected override async Task SerializeToStreamAsync(Stream stream, TransportContext? context)
    {
        var random = new Random(blocks);
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        byte[] block = new byte[blockBytes];
        for (int i = 0; i < blocks; i++)
        {
            random.NextBytes(block);
            hash.AppendData(block);
            await stream.WriteAsync(block);
        }

        Hash = Convert.ToBase64String(hash.GetHashAndReset());
    }

    protected override bool TryComputeLength(out long length)
    {
        length = (long)blocks * blockBytes;
        return true;
    }
}
