using System.Security.Cryptography;

namespace Treepie.Queries.Projecting;

/// <summary>
/// Remembers what was seen, as 128 bits of SHA-256, so that memory does not grow with the size of results; that two different ones
/// meet is beyond what a disk would ever get wrong.
/// </summary>
internal sealed class DistinctFilter
{
    private readonly HashSet<UInt128> _seen = [];

    /// <summary>Whether this is seen for the first time.</summary>
    public bool Add(ReadOnlySpan<byte> value)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(value, hash);
        return _seen.Add(System.Buffers.Binary.BinaryPrimitives.ReadUInt128LittleEndian(hash));
    }
}
