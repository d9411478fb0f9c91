using System.Buffers;
using System.Security.Cryptography;
using Treepie.Indexes.States;

namespace Treepie.Queries.Projecting;

/// <summary>
/// Filters out duplicates. Remembers each distinct row, up to a limit, as 128 bits of its SHA-256, so that memory does not depend
/// on row size; a collision is less likely than an undetected disk error. The first short rows are also kept as they are, so that
/// repeats of them, which most rows are, need no hashing.
/// </summary>
/// <param name="most">The maximum number of distinct rows.</param>
/// <param name="error">The message if there are more.</param>
internal sealed class DistinctFilter(int most, string error)
{
    private const int MostShort = 1_024, ShortBytes = 64;

    private readonly HashSet<UInt128> _seen = [];
    private readonly HashSet<byte[]> _short = new(KeyEquality.Instance);

    private ArrayBufferWriter<byte>? _row, _canonical; // scratch buffers

    /// <summary>
    /// Returns whether a row, the members of an object as minified JSON, is new. Rows are equal if their values are, however
    /// documents spell them.
    /// </summary>
    /// <exception cref="InvalidQueryException">There are more distinct rows than the limit.</exception>
    public bool AddRow(ReadOnlySpan<byte> members)
    {
        if (CanonicalJson.IsWritten(members))
            return Add(members);
        _row ??= new ArrayBufferWriter<byte>();
        _canonical ??= new ArrayBufferWriter<byte>();
        _row.ResetWrittenCount();
        _canonical.ResetWrittenCount();
        _row.Write("{"u8);
        _row.Write(members);
        _row.Write("}"u8);
        CanonicalJson.Write(_row.WrittenSpan, _canonical);
        return Add(_canonical.WrittenSpan[1..^1]);
    }

    /// <summary>Returns whether some bytes are new.</summary>
    /// <exception cref="InvalidQueryException">There are more distinct rows than the limit.</exception>
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
            : throw new InvalidQueryException(error);
    }
}
