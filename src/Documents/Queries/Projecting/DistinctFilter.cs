using System.Security.Cryptography;
using Treepie.Indexes.States;

namespace Treepie.Queries.Projecting;

/// <summary>
/// Remembers what was seen, up to a limit, as 128 bits of SHA-256, so that memory does not grow with the size of results;
/// that two different ones
/// meet is beyond what a disk would ever get wrong. The first short ones are remembered as they are, as most rows repeat one of
/// few.
/// </summary>
internal sealed class DistinctFilter(int most)
{
    private const int MostShort = 1_024, ShortBytes = 64;

    private readonly HashSet<UInt128> _seen = [];
    private readonly HashSet<byte[]> _short = new(KeyEquality.Instance);

    /// <summary>Whether this is seen for the first time.</summary>
    /// <exception cref="InvalidQueryException">More different rows were seen than are remembered.</exception>
    public bool Add(ReadOnlySpan<byte> value)
    {
        bool isShort = value.Length <= ShortBytes;
        HashSet<byte[]>.AlternateLookup<ReadOnlySpan<byte>> known = _short.GetAlternateLookup<ReadOnlySpan<byte>>();
        if (isShort && known.Contains(value))
            return false;

        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(value, hash);
        if (!_seen.Add(System.Buffers.Binary.BinaryPrimitives.ReadUInt128LittleEndian(hash)))
            return false;
        if (isShort && _short.Count < MostShort)
            known.Add(value);
        return _seen.Count <= most
            ? true
            : throw new InvalidQueryException(
                $"'select distinct' found more than {most:N0} different rows (MaxDistinctResults). Narrow the condition, or "
                    + $"count the values with facet().");
    }
}
