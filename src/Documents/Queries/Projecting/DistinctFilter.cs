using System.Security.Cryptography;

namespace Treepie.Queries.Projecting;

/// <summary>
/// Remembers what was seen, up to a limit, as 128 bits of SHA-256, so that memory does not grow with the size of results;
/// that two different ones
/// meet is beyond what a disk would ever get wrong.
/// </summary>
internal sealed class DistinctFilter(int most)
{
    private readonly HashSet<UInt128> _seen = [];

    /// <summary>Whether this is seen for the first time.</summary>
    /// <exception cref="InvalidQueryException">More different rows were seen than are remembered.</exception>
    public bool Add(ReadOnlySpan<byte> value)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(value, hash);
        if (!_seen.Add(System.Buffers.Binary.BinaryPrimitives.ReadUInt128LittleEndian(hash)))
            return false;
        return _seen.Count <= most
            ? true
            : throw new InvalidQueryException(
                $"'select distinct' found more than {most:N0} different rows (MaxDistinctResults). Narrow the condition, or count the values with facet().");
    }
}
